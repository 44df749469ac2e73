import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventOf, openEvents } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
let url: string
const now = Date.now()

beforeAll(async () => {
  events = await openEvents()
  // Twenty megabytes: more than sockets buffer, so an unread answer waits in the middle of its rows.
  await events.insert(
    Array.from({ length: 2000 }, (_, index) =>
      eventOf(now, 1000 + index, { page_url: 'x'.repeat(10_000) }),
    ),
  )
  url = await events.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => events.close())

/** Reads the first bytes of a page, and disconnects. */
const leaveEarly = (query: string) =>
  new Promise<void>((resolve, reject) => {
    const asked = request(`${url}/api/v3/events/web_event?limit=2000&${query}`, (answer) => {
      answer.once('data', () => asked.destroy())
      answer.once('close', resolve)
      answer.once('error', () => {})
    })
    asked.once('error', reject)
    asked.end()
  })

/** Disconnects before the answer begins. */
const leaveAtOnce = () =>
  new Promise<void>((resolve) => {
    const asked = request(`${url}/api/v3/events/web_event?limit=2000`)
    asked.once('error', () => {})
    asked.once('close', resolve)
    asked.once('finish', () => setImmediate(() => asked.destroy()))
    asked.end()
  })

test('callers who leave take no connection to ClickHouse with them', async () => {
  // The driver holds 32 connections: were they kept, the requests after the 32nd would wait for ever.
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(Array.from({ length: 4 }, () => leaveEarly('')))
    await Promise.all(Array.from({ length: 4 }, () => leaveEarly('select=page_url')))
    await Promise.all(Array.from({ length: 4 }, leaveAtOnce))
  }
  const answer = await fetch(`${url}/api/v3/events/web_event?limit=2000&select=event_id`)
  expect(((await answer.json()) as { rows: unknown[] }).rows).toHaveLength(2000)
})
