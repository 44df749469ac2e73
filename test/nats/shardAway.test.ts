/** With the log in NATS, a shard that is away delays its own projects alone, also when another machine takes over. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createCompleteUntil } from '../../collector/events/query/completeUntil.ts'
import { keepWatermark } from '../../collector/ingest/shipper/watermark.ts'
import { openDatabase, openForShipping } from '../../collector/platform/clickhouse/cluster.ts'
import { migrateClickHouse } from '../../collector/platform/clickhouse/migrate.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../harness/databases.ts'
import { type NatsServers, startNatsServers } from '../harness/natsServers.ts'
import { waitFor } from '../harness/service.ts'
import { type Shards, startShards } from '../harness/shards.ts'
import { createPlacedProject } from '../shards/placedProject.ts'
import { ids } from '../spool/segments.ts'
import { type Machine, newLog, type Shared, startMachine } from './logParts.ts'

const waitMs = 120_000
/** The shard that stays, and the one that is away. */
const [here, gone] = [0, 1]

let nats: NatsServers
let stores: string
let shards: Shards
let postgres: Postgres
let shared: Shared
beforeAll(async () => {
  nats = await startNatsServers()
  stores = mkdtempSync(join(tmpdir(), 'footfall-nats-away-'))
  shards = await startShards(stores, 2)
  postgres = openPostgres(await newPostgresDatabase(), () => {})
  await migrateClickHouse(shards.cluster, shards.database)
  const clickhouse = openForShipping(shards.cluster, shards.database, postgres)
  shared = {
    clickhouse,
    postgres,
    settings: newLog(nats.urls),
    async close() {
      await Promise.all([clickhouse.close(), postgres.end()])
    },
  }
}, waitMs)
afterAll(async () => {
  await shared.close()
  await shards.stop()
  await nats.stop()
  rmSync(stores, { recursive: true, force: true })
}, waitMs)

/** Publishes the watermark of a machine, as its collector does. */
function publishOf(machine: Machine) {
  return keepWatermark({
    workers: {
      lowMarks: async (_latest, _published, settled) => {
        machine.logs.events.noteSettled?.(settled)
        return [machine.logs.events.lowMark()]
      },
    },
    shipper: machine.shipping.forwarders.events,
    placement: shared.clickhouse.placement,
    readProgress: machine.shipping.readProgress,
    postgres,
    collectorId: machine.collectorId,
    keep: () => {},
    log: { warn: () => {} },
  })
}

/** The ids on a shard; none while it does not answer. */
async function storedOn(shard: number): Promise<string[]> {
  const rows = await shared.clickhouse.shards[shard]!.rows<{ event_id: string }>({
    sql: 'SELECT event_id FROM events_local',
    params: {},
  }).catch(() => [])
  return rows.map(({ event_id }) => event_id).toSorted()
}

const untilStored = (shard: number, all: readonly string[]) =>
  waitFor(
    `${all.length} events on shard ${shard + 1}`,
    async () => (await storedOn(shard)).length >= all.length,
    waitMs,
  )

test('complete_until of projects on other shards goes on, and the rest is stored once', async () => {
  const [ofHere, ofGone, ofBoth] = await Promise.all(
    [[here], [gone], [here, gone]].map((places) =>
      createPlacedProject(postgres, shared.clickhouse, places),
    ),
  )
  const machines = [await startMachine(shared), await startMachine(shared)]
  const [one, other] = machines as [Machine, Machine]
  await waitFor('both to consume', () =>
    machines.every(({ shipping }) => shipping.owned().length > 0),
  )
  const published = machines.map(publishOf)
  const reader = openDatabase(shards.cluster, shards.database, { postgres })
  const completeUntil = createCompleteUntil(postgres, Date.now, reader.placement)
  const until = (project?: { projectId: string }) =>
    completeUntil(
      { mode: 'live' },
      project && { projectId: project.projectId, pixelId: null },
    ).then((mark) => mark ?? 0)
  const untilAfter = (name: string, at: number, project?: { projectId: string }) =>
    waitFor(name, async () => (await until(project)) > at, waitMs)
  const [stays, waits] = [ids(60), ids(20)]
  await one.logs.events.append(ofHere!.rows(stays.slice(0, 20)))
  await untilStored(here, stays.slice(0, 20))
  await untilAfter('the mark of all', Date.now())

  const back = await shards.takeAway(gone)
  onTestFinished(back)
  await one.logs.events.append([...ofHere!.rows(stays.slice(20, 40)), ...ofGone!.rows(waits)])
  const appendedAt = Date.now()
  await untilStored(here, stays.slice(0, 40))
  await untilAfter('the mark of other shards', appendedAt, ofHere)
  await waitFor('the mark of all', async () => (await until()) <= appendedAt)
  for (const delayed of [ofGone, ofBoth])
    expect(await until(delayed)).toBeLessThanOrEqual(appendedAt)

  // Another machine takes the partitions, and knows what waits.
  await published[0]!.stop()
  await one.stop()
  await waitFor('the other', () => other.shipping.owned().length === 6, waitMs)
  await other.logs.events.append(ofHere!.rows(stays.slice(40)))
  await untilStored(here, stays)
  expect(await until(ofGone)).toBeLessThanOrEqual(appendedAt)

  back()
  await untilStored(gone, waits)
  await postgres.query('DELETE FROM collectors WHERE collector_id = $1', [one.collectorId])
  await untilAfter('the mark of the project', Date.now(), ofGone)
  expect(await storedOn(gone)).toEqual(waits.toSorted())
  expect(await storedOn(here)).toEqual(stays.toSorted())
  await published[1]!.stop()
  await other.stop()
  await reader.close()
}, 400_000)
