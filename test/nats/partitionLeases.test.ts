/** One machine at a time consumes a partition: PostgreSQL refuses the commit of any other. */
import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { PartitionLeases, readProgress } from '../../collector/ingest/nats/partitionLeases.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../harness/databases.ts'

const streams = ['events_0', 'events_1', 'events_2', 'events_3']
let postgres: Postgres

beforeEach(async () => {
  postgres = openPostgres(await newPostgresDatabase(), () => {})
})
afterEach(() => postgres.end())

const open = async () => {
  const leases = new PartitionLeases(postgres, randomUUID(), streams)
  await leases.prepare()
  return leases
}
const expire = () => postgres.query("UPDATE event_log_partitions SET expires_at = '-infinity'")

test('no two machines own a partition, and a machine’s share follows their number', async () => {
  const [one, other] = [await open(), await open()]
  expect(await one.renew(new Map())).toBe(4)
  expect(await other.renew(new Map())).toBe(2)
  expect(await one.renew(new Map())).toBe(2)
  const [left, right] = await Promise.all([one.acquire(4), other.acquire(4)])
  expect([...left, ...right].map(({ stream }) => stream).sort()).toEqual(streams)
  await other.leave()
  expect(await one.renew(new Map())).toBe(4)
})

test('a stale owner’s commit is refused, and its lease is not held any more', async () => {
  const [one, other] = [await open(), await open()]
  const [lease] = await one.acquire(1)
  expect(await one.begin(lease!, 'created', 1)).toEqual({ committed: 0, starts: null })
  await one.commit(lease!, 0, 5)
  await expire()
  const taken = (await other.acquire(4)).find(({ stream }) => stream === lease!.stream)!
  expect(taken).toMatchObject({ token: lease!.token + 1, mayOtherInsertsRun: true })
  expect(await other.begin(taken, 'created', 1)).toMatchObject({ committed: 5 })
  await expect(one.commit(lease!, 5, 9)).rejects.toThrow(/lost/)
  expect(lease!.isHeld()).toBe(false)
  await one.renew(new Map())
  await other.commit(taken, 5, 7)
  expect((await readProgress(postgres, [taken.stream])).committed).toEqual([7])
})

test('only the next positions can be committed, and again without harm', async () => {
  const leases = await open()
  const [lease] = await leases.acquire(1)
  await leases.begin(lease!, 'created', 1)
  await leases.commit(lease!, 0, 5)
  await leases.commit(lease!, 0, 5)
  await expect(leases.commit(lease!, 7, 9)).rejects.toThrow(/lost/)
})

test('positions of a deleted stream are void, and deleted messages are waited for by nobody', async () => {
  const leases = await open()
  const [lease] = await leases.acquire(1)
  await leases.begin(lease!, 'first', 1)
  await leases.commit(lease!, 0, 500)
  expect(await leases.begin(lease!, 'first', 501)).toMatchObject({ committed: 500 })
  expect(await leases.begin(lease!, 'second', 1)).toMatchObject({ committed: 0 })
  expect(await leases.begin(lease!, 'second', 31)).toMatchObject({ committed: 30 })
})

test('a lease that is released in order tells the next owner that no insert runs', async () => {
  const [one, other] = [await open(), await open()]
  for (const lease of await one.acquire(4)) await one.release(lease, true)
  const next = await other.acquire(4)
  expect(next.map(({ mayOtherInsertsRun }) => mayOtherInsertsRun)).toEqual(streams.map(() => false))
  for (const lease of next) await other.release(lease, false)
  expect(await one.acquire(4)).toEqual([])
  await expire()
  expect((await one.acquire(4)).every(({ mayOtherInsertsRun }) => mayOtherInsertsRun)).toBe(true)
})

test('rows that ClickHouse may have lost hold the progress back until they are found', async () => {
  const leases = await open()
  const [lease] = await leases.acquire(1)
  await leases.renew(new Map([[lease!.stream, { doubtfulFrom: 1_000, starts: null }]]))
  expect((await readProgress(postgres, streams)).doubtfulFrom).toBe(1_000)
  // A new owner that has not read the messages does not know.
  await leases.renew(new Map())
  expect((await readProgress(postgres, streams)).doubtfulFrom).toBe(1_000)
  await leases.renew(new Map([[lease!.stream, { doubtfulFrom: Infinity, starts: null }]]))
  expect((await readProgress(postgres, streams)).doubtfulFrom).toBe(Infinity)
})

test('a new owner learns which servers of ClickHouse have the committed messages', async () => {
  const [one, other] = [await open(), await open()]
  const [lease] = await one.acquire(1)
  const { stream } = lease!
  await one.begin(lease!, 'created', 1)
  const report = { doubtfulFrom: Infinity, starts: [1_700_000_000, 1_700_000_100] }
  await one.renew(new Map([[stream, report]]))
  // While rows are in doubt, the earlier starts stay.
  await one.renew(new Map([[stream, { doubtfulFrom: 5, starts: null }]]))
  await expire()
  const taken = (await other.acquire(4)).find((each) => each.stream === stream)!
  expect(await other.begin(taken, 'created', 1)).toEqual({ committed: 0, starts: report.starts })
  expect(await other.begin(taken, 'again', 1)).toEqual({ committed: 0, starts: null })
})
