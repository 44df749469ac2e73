import { afterEach, expect, test } from 'vitest'
import { dropDatabases } from '../harness/databases.ts'
import { mountRefusal } from '../harness/smallDisk.ts'
import { isChargedOnce, runBilling } from './billing.ts'
import { runDiskFull } from './diskFull.ts'
import { runExports } from './exports.ts'
import { runImports } from './imports.ts'
import { runOutage } from './outage.ts'
import { ownStores } from './ownStores.ts'
import { runPages } from './pages.ts'
import { runPoison } from './poison.ts'
import { runReset } from './reset.ts'

const seed = 20_260_131
const everythingOnce = { lost: 0, doubled: 0, altered: 0 }
const log = () => {}
afterEach(dropDatabases)

/** Each takes about fifteen seconds on a quiet machine. */
const timeoutMs = 300_000

test(
  'a connection reset after ClickHouse committed stores nothing twice',
  async () => {
    const result = await runReset({ stores: await ownStores(), seed, log, resets: 10 })
    expect(result).toMatchObject({ ...everythingOnce, resets: 10 })
  },
  timeoutMs,
)

test(
  'while ClickHouse is away beacons are acknowledged, and readable when it is back',
  async () => {
    const result = await runOutage({
      stores: await ownStores(),
      seed,
      log,
      rate: 2_000,
      warmUpMs: 2_000,
      outageMs: 5_000,
    })
    expect(result).toMatchObject({ ...everythingOnce, notAcknowledged: 0 })
  },
  timeoutMs,
)

test(
  'a full disk answers 503, and takes beacons again when there is room, without a restart',
  async (context) => {
    const refusal = mountRefusal()
    context.skip(refusal !== null, refusal ?? '')
    const result = await runDiskFull({ stores: await ownStores(), seed, log, fullMs: 2_000 })
    expect(result).toMatchObject({
      ...everythingOnce,
      withoutRetryAfter: 0,
      readyzWhileFull: 503,
      livedOn: true,
    })
    expect(Object.keys(result.answers).sort()).toEqual(['200', '503 busy'])
  },
  timeoutMs,
)

test(
  'rows that ClickHouse refuses become dead letters and hold nothing up',
  async () => {
    const result = await runPoison({ stores: await ownStores(), seed, log })
    expect(result.goodReadable).toBe(result.goodRows)
    // Held up by the poison it would wait for ever; the turn to ship, and a busy machine, take seconds.
    expect(result.sentReadableMs).toBeLessThan(20_000)
    expect(result.deadLetters).toHaveLength(result.poisonRows)
    for (const id of result.poisonIds) {
      expect(result.deadLetters.find(({ row }) => row.includes(id))).toMatchObject({
        table: 'events',
        reason: expect.stringMatching(/Cannot parse|expected/),
      })
    }
  },
  timeoutMs,
)

test(
  'every record delivered is charged once: readers leave and ask again, the service is killed, ClickHouse fails',
  async () => {
    const result = await runBilling({
      stores: await ownStores(),
      seed,
      log,
      requests: 300,
      connections: 20,
      kills: 2,
    })
    expect(isChargedOnce(result), JSON.stringify(result)).toBe(true)
    expect(result.spoiled).toBeGreaterThan(5)
    expect(Object.keys(result.answers).sort()).toEqual(
      expect.arrayContaining(['200', '400', 'broken', 'left']),
    )
  },
  timeoutMs,
)

test(
  'a person of an audience is charged once a day: readers leave, the service is killed, the audience is built anew',
  async () => {
    const result = await runPages({
      stores: await ownStores(),
      seed,
      log,
      pages: 300,
      connections: 10,
      kills: 2,
      builds: 2,
      people: 1_000,
    })
    expect(result).toMatchObject({ kills: 2, wrongBuilds: 0, delivered: 2_000, charged: 1_000 })
    expect(result.brokenOff).toBeGreaterThan(5)
  },
  timeoutMs,
)

test(
  'an export whose service is killed, to a destination that fails at random, loses and miscounts no record',
  async () => {
    const result = await runExports({
      stores: await ownStores(),
      seed,
      log,
      kills: 3,
      people: 3_000,
    })
    expect(result).toMatchObject({ kills: 3, lost: 0, uncounted: 0, overcharged: 0, unpaid: 0 })
    expect(result.sentAgain).toBeLessThanOrEqual(result.sentAgainMax)
  },
  timeoutMs,
)

test(
  'an import whose service is killed in its midst loses no line, and none is there twice',
  async () => {
    const result = await runImports({
      stores: await ownStores(),
      seed,
      log,
      kills: 2,
      lines: 400_000,
    })
    expect(result).toMatchObject({ ...everythingOnce, kills: 2 })
  },
  timeoutMs,
)
