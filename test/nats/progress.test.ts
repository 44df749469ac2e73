/** One machine at a time owns the log: PostgreSQL refuses the commit of any other. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { leasesOfOwner } from '../../collector/ingest/nats/ownerLeases.ts'
import {
  beginStream,
  commitMessages,
  readProgress,
  recordVerification,
} from '../../collector/ingest/nats/progress.ts'
import { type Lease, LeaseHeldError, withLease } from '../../collector/platform/postgres/lease.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../harness/databases.ts'

const stream = 'events'
let postgres: Postgres

beforeEach(async () => {
  postgres = openPostgres(await newPostgresDatabase(), () => {})
})
afterEach(() => postgres.end())

const own = <T>(work: (owner: Lease) => Promise<T>) => withLease(postgres, 'log test', work)
/** As after a pause of the owner: another machine may own the log. */
const expire = () => postgres.query("UPDATE leases SET expires_at = '-infinity'")
const begin = (owner: Lease, created = 'created', firstSeq = 1) =>
  beginStream(owner, stream, { created, firstSeq })

test('a stale owner can neither commit nor insert', async () => {
  await own(async (stale) => {
    expect(await begin(stale)).toEqual({ committed: 0, starts: null })
    await commitMessages(stale, stream, 0, 5)
    const leases = leasesOfOwner(stale, stream, null)
    expect((await leases.acquire(new Uint32Array())).isHeld()).toBe(true)
    await expire()
    await own(async (owner) => {
      expect(await begin(owner)).toMatchObject({ committed: 5 })
      await expect(commitMessages(stale, stream, 5, 9)).rejects.toThrow(LeaseHeldError)
      expect((await leases.acquire(new Uint32Array())).isHeld()).toBe(false)
      await commitMessages(owner, stream, 5, 7)
    })
  })
  expect((await readProgress(postgres, stream)).committed).toBe(7)
})

test('under the lease that all shippers share, a stale owner learns the ids of others and inserts nothing', async () => {
  const idsOfOthers = new Uint32Array([1, 2])
  const shared = {
    batchPrefix: '',
    acquire: async () => ({
      idsOfOthers,
      mayOtherInsertsRun: false,
      acquiredAt: 0,
      isHeld: () => true,
      release: async () => {},
      abandon: () => {},
    }),
    close: () => {},
  }
  await own(async (owner) => {
    const leases = leasesOfOwner(owner, stream, shared)
    expect((await leases.acquire(new Uint32Array())).isHeld()).toBe(true)
    await postgres.query('DELETE FROM leases')
    const lease = await leases.acquire(new Uint32Array())
    expect([lease.isHeld(), lease.idsOfOthers]).toEqual([false, idsOfOthers])
  })
})

test('the first insert of an owner waits for those of the previous one, and each for its own without an answer', async () => {
  await own(async (owner) => {
    const leases = leasesOfOwner(owner, stream, null)
    const acquire = () => leases.acquire(new Uint32Array())
    const first = await acquire()
    expect(first.mayOtherInsertsRun).toBe(true)
    await first.release()
    const second = await acquire()
    expect(second.mayOtherInsertsRun).toBe(false)
    second.abandon()
    expect((await acquire()).mayOtherInsertsRun).toBe(true)
  })
})

test('only the next positions can be committed, and again without harm', () =>
  own(async (owner) => {
    await begin(owner)
    await commitMessages(owner, stream, 0, 5)
    await commitMessages(owner, stream, 0, 5)
    await expect(commitMessages(owner, stream, 7, 9)).rejects.toThrow(/not committed/)
  }))

test('positions of a deleted stream are void, and deleted messages are waited for by nobody', () =>
  own(async (owner) => {
    await begin(owner, 'first')
    await commitMessages(owner, stream, 0, 500)
    expect(await begin(owner, 'first', 501)).toMatchObject({ committed: 500 })
    expect(await begin(owner, 'second', 1)).toMatchObject({ committed: 0 })
    expect(await begin(owner, 'second', 31)).toMatchObject({ committed: 30 })
  }))

test('rows that ClickHouse may have lost hold the progress back until they are found', async () => {
  const doubtfulFrom = async () => (await readProgress(postgres, stream)).doubtfulFrom
  await own(async (owner) => {
    await begin(owner)
    expect(await doubtfulFrom()).toBe(Infinity)
    await recordVerification(owner, stream, { doubtfulFrom: 1_000, starts: null })
  })
  // A new owner that has not read the messages does not know.
  await own(async (owner) => {
    await begin(owner)
    expect(await doubtfulFrom()).toBe(1_000)
    await recordVerification(owner, stream, { doubtfulFrom: Infinity, starts: null })
    expect(await doubtfulFrom()).toBe(Infinity)
  })
})

test('a new owner learns which servers of ClickHouse have the committed messages', async () => {
  const starts = [1_700_000_000, 1_700_000_100]
  await own(async (owner) => {
    await begin(owner)
    await recordVerification(owner, stream, { doubtfulFrom: Infinity, starts })
    // While rows are in doubt, the earlier starts stay.
    await recordVerification(owner, stream, { doubtfulFrom: 5, starts: null })
  })
  await own(async (owner) => {
    expect(await begin(owner)).toEqual({ committed: 0, starts })
    expect(await begin(owner, 'again')).toEqual({ committed: 0, starts: null })
  })
})
