/** A clock that is wrong for a while: later events have the right time, and the operator is notified. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { aheadMsMax, createSharedClock } from '../../collector/platform/sharedClock.ts'
import { beaconOf, customEvent, postBeacon, readEvent } from '../harness/api.ts'
import { runNextTo } from '../harness/commands.ts'
import { ownDatabases } from '../harness/databases.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'

const hourMs = 3_600_000

let directory: string
let env: Record<string, string>
let postgres: Postgres
let service: Service
const setWrong = (ms: number) => writeFileSync(join(directory, 'wrong'), String(ms))

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-clock-'))
  setWrong(0)
  const databases = await ownDatabases()
  env = {
    ...databases,
    NODE_OPTIONS: `--import ${pathToFileURL(join(packageRoot, 'test/harness/wrongClock.mjs')).href}`,
    WRONG_CLOCK: join(directory, 'wrong'),
  }
  postgres = openPostgres(databases.DATABASE_URL!, () => {})
  service = await startService({ env, dataDir: join(directory, 'data') })
})
afterAll(async () => {
  await service?.stop()
  await postgres?.end()
  rmSync(directory, { recursive: true, force: true })
})

const send = async () => {
  const event = customEvent()
  const answer = await postBeacon(service.url, beaconOf(service, [event]))
  expect(answer.status).toBe(200)
  return event.event_id as string
}
/** By how much an event says that it came later than it did, milliseconds. */
const aheadOf = async (eventId: string, sentAt: number) => {
  const { received_at } = await readEvent(service, eventId)
  return Date.parse(String(received_at)) - sentAt
}
const clockAhead = async (): Promise<number> => {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  return Number(text.match(/^footfall_clock_ahead_seconds (.+)$/m)?.[1])
}
const mark = async (): Promise<number> => {
  const { rows } = await postgres.query<{ mark: number }>(
    'SELECT max(complete_until_ms)::float8 AS mark FROM collectors',
  )
  return rows[0]!.mark
}

test('a clock that runs an hour ahead for a while changes no time by more than seconds', async () => {
  await waitFor('a first comparison', async () => Math.abs(await clockAhead()) < 2)
  setWrong(hourMs)
  await waitFor('the gauge', async () => (await clockAhead()) > 3_000)
  const sentAt = Date.now()
  const whileWrong = await send()
  expect(await mark()).toBeLessThanOrEqual(Date.now() + 1_000)
  setWrong(0)
  await waitFor('the gauge', async () => Math.abs(await clockAhead()) < 60)
  const laterAt = Date.now()
  const later = await send()
  expect(await aheadOf(whileWrong, sentAt)).toBeLessThan(aheadMsMax + 30_000)
  expect(await aheadOf(later, laterAt)).toBeLessThan(aheadMsMax + 30_000)
  expect(await mark()).toBeLessThanOrEqual(Date.now() + 1_000)
})

test('a watermark that is ahead is named by doctor, set back at the next start, and holds no event', async () => {
  await service.end('SIGTERM')
  await postgres.query('UPDATE collectors SET complete_until_ms = $1', [Date.now() + hourMs])
  const { output: told } = await runNextTo(service.dataDir, ['doctor'], env)
  expect(told).toMatch(/the watermark of collector .+ is .+ ahead of PostgreSQL's clock/)
  service = await startService({ env, dataDir: service.dataDir })
  expect(service.output()).toContain('a watermark was ahead of PostgreSQL’s clock and was set back')
  const sentAt = Date.now()
  expect(await aheadOf(await send(), sentAt)).toBeLessThan(aheadMsMax + 30_000)
})

test('between comparisons the shared clock follows no clock of this machine that is set', async () => {
  const clock = createSharedClock()
  expect([clock.earliest(), clock.latest()]).toEqual([-Infinity, Infinity])
  await clock.compare(postgres)
  const now = Date.now()
  vi.spyOn(Date, 'now').mockReturnValue(now + hourMs)
  expect(clock.latest()).toBeLessThan(now + 60_000)
  expect(clock.earliest()).toBeLessThanOrEqual(clock.latest())
  vi.restoreAllMocks()
})
