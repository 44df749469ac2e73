/** The parts of one machine that use the log in NATS, in the process of the test. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import type { NatsSettings } from '../../collector/config.ts'
import type { NatsLink } from '../../collector/ingest/nats/natsLink.ts'
import { openNatsLogs } from '../../collector/ingest/nats/natsLog.ts'
import { type NatsShipping, openNatsShipping } from '../../collector/ingest/nats/natsShipping.ts'
import { readProgress } from '../../collector/ingest/nats/progress.ts'
import { allStreams, infoOf, streamOf } from '../../collector/ingest/nats/streams.ts'
import type { ShipObserver } from '../../collector/ingest/shipper/shipper.ts'
import { openShippers } from '../../collector/ingest/shipper/shippers.ts'
import { makeSpool, openSpools } from '../../collector/ingest/spool/spools.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { registerCollector } from '../../collector/platform/collectors.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { newClickHouseDatabase, newPostgresDatabase } from '../harness/databases.ts'
import { waitFor } from '../harness/service.ts'

/** The stores that the machines of a test share. */
export interface Shared {
  clickhouse: ClickHouse
  postgres: Postgres
  postgresUrl: string
  settings: NatsSettings
  close(): Promise<void>
}

/** The settings of a log of the test's own. */
const newLog = (servers: string[]): NatsSettings => ({
  servers,
  prefix: `t${randomUUID().slice(0, 8)}`,
  replicas: 3,
  whenAway: 'spool',
})

/** Opens empty stores, and names a log of the test's own. */
export async function openShared(
  servers: string[],
  more: Partial<NatsSettings> = {},
): Promise<Shared> {
  const [database, url] = await Promise.all([newClickHouseDatabase(), newPostgresDatabase()])
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  const postgres = openPostgres(url, () => {})
  return {
    clickhouse,
    postgres,
    postgresUrl: url,
    settings: { ...newLog(servers), ...more },
    async close() {
      await Promise.all([clickhouse.close(), postgres.end()])
    },
  }
}

export type Machine = Awaited<ReturnType<typeof startMachine>>

/** Starts a machine: a worker's logs, and the primary's part. */
export async function startMachine(shared: Shared, { isConnected = true } = {}) {
  const { settings, postgres, postgresUrl, clickhouse } = shared
  const directory = mkdtempSync(join(tmpdir(), 'footfall-machine-'))
  const collectorId = randomUUID()
  const { mark } = await registerCollector(postgres, collectorId)
  const told = { shipped: 0, duplicates: 0, deadLetters: [] as string[], retries: [] as string[] }
  const log = { warn: () => {}, error: () => {} }
  const deadLetterDirectory = join(directory, 'dead')
  const observe = (): ShipObserver => ({
    shipped: (rows) => (told.shipped += rows),
    duplicates: (lines) => (told.duplicates += lines.length),
    deadLetter: (reason) => told.deadLetters.push(reason),
    retry: (error) => told.retries.push(error.message),
  })
  const shipping: NatsShipping = await openNatsShipping({
    settings,
    postgres: { pool: postgres, url: postgresUrl },
    clickhouse,
    collectorId,
    deadLetterDirectory,
    observe,
    log: log as never,
  })
  const shippers = openShippers(
    clickhouse,
    { postgresUrl, collectorId },
    deadLetterDirectory,
    observe,
  )
  const spoolDirectory = join(directory, 'spool', '0')
  mkdirSync(spoolDirectory, { recursive: true })
  makeSpool(spoolDirectory)
  const sealed: string[] = []
  const spools = openSpools(
    spoolDirectory,
    { bytesMax: 64 * 1024 * 1024, receivedFrom: mark, clock: undefined },
    {
      sealed: (table, path) => {
        sealed.push(path)
        shippers[table].add(path)
      },
      commit: () => {},
      noRoom: () => {},
    },
  )
  const { logs, link, close } = await openNatsLogs(settings, spools)
  if (isConnected) await untilReady(link, settings)
  return {
    collectorId,
    directory,
    shipping,
    shippers,
    logs,
    told,
    /** Segments that its spool has sealed. */
    sealed,
    /** The time until which ClickHouse has all its events; 0 if that is unknown. */
    async completeUntil(): Promise<number> {
      const mark = logs.events.lowMark()
      const stored = await shipping.storedUntil(mark, logs.events.position).catch(() => null)
      return Math.min(stored ?? 0, shippers.events.lowMark)
    },
    /** How far the events are consumed, by any machine. */
    progress: () => readProgress(postgres, streamOf('events', settings).name),
    async stop(): Promise<boolean> {
      await Promise.all(Object.values(logs).map((each) => each.close()))
      await close()
      const isComplete = await shipping.stop()
      await Promise.all(Object.values(shippers).map((shipper) => shipper.stop(0)))
      rmSync(directory, { recursive: true, force: true })
      return isComplete
    },
  }
}

/** Waits until all streams have a leader. Until then, rows would go into the spool. */
async function untilReady(link: NatsLink, settings: NatsSettings): Promise<void> {
  const { manager } = await link.ready()
  await waitFor('the streams', () =>
    Promise.all(allStreams(settings).map(({ name }) => infoOf(manager, name))).then(
      (found) => found.every((info) => info?.cluster?.leader),
      () => false,
    ),
  )
}
