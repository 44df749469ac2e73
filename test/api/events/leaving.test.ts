import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { waitFor } from '../../harness/service.ts'
import { eventOf, openEvents, projectId } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
let url: string
const now = Date.now()

beforeAll(async () => {
  // Its log has the requests.
  events = await openEvents({ logsRequests: true })
  // Twenty megabytes: more than sockets buffer, so an unread answer waits in the middle of its rows.
  await events.insert(
    Array.from({ length: 2000 }, (_, index) =>
      eventOf(now, 1000 + index, { page_url: 'x'.repeat(10_000) }),
    ),
  )
  url = await events.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => events.close())

/** Reads the first bytes of a page, and disconnects. Returns the id of the request. */
const leaveEarly = (query: string) =>
  new Promise<string>((resolve, reject) => {
    const asked = request(`${url}/api/v3/events/web_event?limit=2000&${query}`, (answer) => {
      answer.once('data', () => asked.destroy())
      answer.once('close', () => resolve(String(answer.headers['x-request-id'])))
      answer.once('error', () => {})
    })
    asked.once('error', reject)
    asked.end()
  })

/** Disconnects some milliseconds after the request, usually before the answer begins. */
const leaveAtOnce = (path: string, afterMs = 0) =>
  new Promise<void>((resolve) => {
    const asked = request(`${url}${path}`)
    asked.once('error', () => {})
    asked.once('close', resolve)
    asked.once('finish', () => setTimeout(() => asked.destroy(), afterMs))
    asked.end()
  })

test('callers who leave take no connection to ClickHouse with them', async () => {
  // The driver holds 32 connections: were they kept, the requests after the 32nd would wait for ever.
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(Array.from({ length: 4 }, () => leaveEarly('')))
    await Promise.all(Array.from({ length: 4 }, () => leaveEarly('select=page_url')))
    await Promise.all(
      Array.from({ length: 4 }, () => leaveAtOnce('/api/v3/events/web_event?limit=2000')),
    )
  }
  const answer = await fetch(`${url}/api/v3/events/web_event?limit=2000&select=event_id`)
  expect(((await answer.json()) as { rows: unknown[] }).rows).toHaveLength(2000)
})

test('the log of requests has those whose callers left before the end', async () => {
  const requestId = await leaveEarly('')
  await waitFor('the request in the log', async () => {
    const { body } = await events.app.inject(`/api/v1/requests?request_id=${requestId}`)
    return JSON.parse(body).requests.length === 1
  })
})

// Node ends a process with an unhandled rejection, and with it the requests of all other callers.
test('callers who leave figures at any moment leave no rejection unhandled', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  const paths = [
    'overview?compare=previous',
    'timeseries?compare=previous&include=sessions',
    'breakdown?dimensions=page_path,source',
    'journeys?',
    'web-vitals?',
  ].map(
    (path) =>
      `/api/v1/analytics/${path}&project_id=${projectId}&start_ms=${now - 30 * 86_400_000}&end_ms=${now}`,
  )
  process.on('unhandledRejection', note)
  try {
    for (const path of paths) {
      const { statusCode, body } = await events.app.inject(path)
      expect(statusCode, body).toBe(200)
      for (let afterMs = 0; afterMs < 40; afterMs += 2) await leaveAtOnce(path, afterMs)
    }
  } finally {
    process.off('unhandledRejection', note)
  }
  expect(unhandled).toEqual([])
})
