/** The log in NATS JetStream, with three real servers: ClickHouse has each acknowledged event once. */
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { LogUnavailable } from '../../collector/ingest/log/eventLog.ts'
import { examineLog } from '../../collector/ops/doctor/checkLog.ts'
import { type NatsServers, startNatsServers } from '../harness/natsServers.ts'
import { waitFor } from '../harness/service.ts'
import { ids, row, storedIds } from '../spool/segments.ts'
import { type Machine, openShared, type Shared, startMachine } from './logParts.ts'

let nats: NatsServers
let shared: Shared
let machines: Machine[]

beforeAll(async () => {
  nats = await startNatsServers()
}, 60_000)
afterAll(() => nats.stop())
beforeEach(async () => {
  await nats.startAgain()
  shared = await openShared(nats.urls)
  machines = []
})
afterEach(async () => {
  await nats.startAgain()
  await Promise.all(machines.map((machine) => machine.stop()))
  await shared.close()
})

const start = async (
  ...options: Parameters<typeof startMachine> extends [unknown, ...infer R] ? R : never
) => {
  const machine = await startMachine(shared, ...options)
  machines.push(machine)
  return machine
}

const rowsOf = (all: readonly string[]) => all.map((id) => row(id))

/** Appends rows one call after another, and returns the ids that were acknowledged. */
async function appendAll({ logs }: Machine, all: readonly string[], each = 10): Promise<void> {
  for (let from = 0; from < all.length; from += each)
    await logs.events.append(rowsOf(all.slice(from, from + each)))
}

const untilStored = (all: readonly string[]) =>
  waitFor('the events', async () => (await storedIds(shared.clickhouse)).length >= all.length)

describe('append, consume and commit', () => {
  test('acknowledged rows are stored once, and the watermark passes them only then', async () => {
    const machine = await start()
    const all = ids(500)
    const before = Date.now()
    await appendAll(machine, all)
    const after = Date.now()
    await waitFor('the watermark', async () => (await machine.completeUntil()) > after)
    expect(await storedIds(shared.clickhouse)).toEqual(all)
    expect(machine.sealed).toEqual([])
    expect(before).toBeLessThan(after)
  })

  test('an id that comes again, to any machine, is stored once', async () => {
    const [one, other] = [await start(), await start()]
    const all = ids(200)
    await Promise.all([appendAll(one, all), appendAll(other, all.toReversed())])
    await appendAll(other, all)
    const now = Date.now()
    await waitFor('both', async () =>
      (await Promise.all(machines.map((each) => each.completeUntil()))).every((mark) => mark > now),
    )
    expect(await storedIds(shared.clickhouse)).toEqual(all)
    expect(one.told.duplicates + other.told.duplicates).toBe(400)
  })

  test('one machine at a time owns the log, and hands it over when it stops in order', async () => {
    const [one, other] = [await start(), await start()]
    await waitFor('an owner', () => one.shipping.isOwner !== other.shipping.isOwner)
    const [owner, next] = one.shipping.isOwner ? [one, other] : [other, one]
    const all = ids(100)
    await appendAll(owner, all)
    machines = [next]
    expect(await owner.stop()).toBe(true)
    await waitFor('the next owner', () => next.shipping.isOwner)
    const more = ids(100)
    await appendAll(next, more)
    await untilStored([...all, ...more])
    expect(await storedIds(shared.clickhouse)).toEqual([...all, ...more].sort())
  })
})

test('what ClickHouse has does not go back when the log gets another owner', async () => {
  const one = await start()
  await appendAll(one, ids(200))
  const now = Date.now()
  await waitFor('the watermark', async () => (await one.completeUntil()) > now)
  // The owner records once a second which servers have the rows.
  await delay(3_000)
  const other = await start()
  await waitFor('the watermark', async () => (await other.completeUntil()) > now)
  const marks: number[] = []
  let isWatching = true
  const watching = (async () => {
    for (; isWatching; await delay(50)) {
      marks.push(await other.completeUntil())
      expect((await other.progress()).doubtfulFrom).toBe(Infinity)
    }
  })()
  // The owner stalls, and another one reads the messages of the last two minutes again.
  while (one.shipping.isOwner) {
    await shared.postgres.query(
      "UPDATE leases SET expires_at = '-infinity' WHERE name LIKE 'log %'",
    )
    await delay(500)
  }
  await waitFor('the other', () => other.shipping.isOwner)
  await appendAll(one, ids(100))
  await delay(4_000)
  machines = [other]
  await one.stop()
  await delay(1_000)
  isWatching = false
  await watching
  expect(marks.length).toBeGreaterThan(50)
  expect(marks).toEqual(marks.toSorted((earlier, later) => earlier - later))
})

describe('NATS fails', () => {
  test('a killed node loses and doubles nothing, and rows stay acknowledged', async () => {
    const machine = await start()
    const all = ids(600)
    await appendAll(machine, all.slice(0, 200))
    await nats.kill(0)
    await appendAll(machine, all.slice(200, 400))
    await nats.startAgain()
    await nats.kill(1)
    await appendAll(machine, all.slice(400))
    await waitFor('doctor to name the node', async () => {
      // NATS answers no request while it elects leaders.
      const found = await examineLog(shared.settings, shared.postgres)
      return found.some(
        ({ ok, text }) => !ok && /check the NATS servers n2 \(\d+ streams\)$/.test(text),
      )
    })
    // nats-server 2.9.10, of Debian 12, may leave a stream of two nodes without a working leader on a busy machine.
    // The third node ends that.
    await nats.startAgain()
    const now = Date.now()
    await waitFor('the watermark', async () => (await machine.completeUntil()) > now, 120_000)
    expect(await storedIds(shared.clickhouse)).toEqual(all)
  })

  test('without NATS, the spool keeps rows and ships them; the watermark waits', async () => {
    const machine = await start()
    const all = ids(300)
    await appendAll(machine, all.slice(0, 100))
    await Promise.all([nats.kill(0), nats.kill(1), nats.kill(2)])
    const away = Date.now()
    await appendAll(machine, all.slice(100))
    await delay(1_500)
    expect(await machine.completeUntil()).toBeLessThanOrEqual(Date.now() - 1_000)
    expect(await machine.completeUntil()).toBeLessThan(away + 5_000)
    await nats.startAgain()
    const now = Date.now()
    await waitFor('the watermark', async () => (await machine.completeUntil()) > now)
    expect(await storedIds(shared.clickhouse)).toEqual(all)
    expect(machine.sealed.length).toBeGreaterThan(0)
    await waitFor('the spool to be empty', () => machine.sealed.every((path) => !existsSync(path)))
  })

  test('with `refuse`, appends fail, and a repetition is stored once', async () => {
    shared.settings.whenAway = 'refuse'
    const machine = await start()
    const all = ids(60)
    await appendAll(machine, all.slice(0, 20))
    await Promise.all([nats.kill(0), nats.kill(1), nats.kill(2)])
    await expect(machine.logs.events.append(rowsOf(all.slice(20)))).rejects.toThrow(LogUnavailable)
    expect(machine.logs.events.trouble).toMatch(/NATS/)
    await nats.startAgain()
    await waitFor('NATS', async () =>
      machine.logs.events.append(rowsOf(all.slice(20))).then(
        () => true,
        () => false,
      ),
    )
    const now = Date.now()
    await waitFor('the watermark', async () => (await machine.completeUntil()) > now)
    expect(await storedIds(shared.clickhouse)).toEqual(all)
    expect(machine.sealed).toEqual([])
  })

  // Without a pause between its tries, the publish starved the process: this test would never end.
  test('with `refuse`, a publish that has no answer leaves the process to others', async () => {
    Object.assign(shared.settings, { whenAway: 'refuse', servers: [nats.urls[2]] })
    const machine = await start()
    const all = ids(40)
    await appendAll(machine, all.slice(0, 20))
    // Its node stays, but cannot store: the publish begins with a connection, and loses it.
    await Promise.all([nats.kill(0), nats.kill(1)])
    const refused = machine.logs.events.append(rowsOf(all.slice(20)))
    await expect(refused).rejects.toThrow('NATS did not store the rows')
    await nats.kill(2)
    await waitFor('the loss', () => machine.logs.events.trouble === 'NATS is unavailable')
    await delay(500)
    await nats.startAgain()
    const now = Date.now()
    await waitFor('the watermark', async () => (await machine.completeUntil()) > now)
    expect(await storedIds(shared.clickhouse)).toEqual(all)
  })

  test('a machine starts, ships its spool and stops without NATS', async () => {
    const settings = { ...shared.settings, servers: ['nats://127.0.0.1:1'] }
    const machine = await startMachine({ ...shared, settings }, { isConnected: false })
    const all = ids(50)
    await appendAll(machine, all)
    await untilStored(all)
    expect(await machine.completeUntil()).toBe(0)
    expect(await machine.stop()).toBe(false)
    expect(await storedIds(shared.clickhouse)).toEqual(all)
  })

  test('an event is stored once, whether it comes through NATS or through a spool', async () => {
    const away = { ...shared, settings: { ...shared.settings, servers: ['nats://127.0.0.1:1'] } }
    const [machine, spooling] = [await start(), await startMachine(away, { isConnected: false })]
    machines.push(spooling)
    const all = ids(200)
    await Promise.all([
      appendAll(machine, all, 5),
      appendAll(spooling, all.toReversed(), 5),
      appendAll(machine, all, 7),
    ])
    const now = Date.now()
    await waitFor('the watermark', async () => (await machine.completeUntil()) > now)
    await waitFor('the spool', () => spooling.shippers.events.backlog === 0)
    await waitFor('the seal', () => spooling.told.shipped + spooling.told.duplicates >= 200)
    expect(await storedIds(shared.clickhouse)).toEqual(all)
  })
})
