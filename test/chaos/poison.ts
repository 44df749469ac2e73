import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cachedDevice } from '../../collector/ingest/normalize/device.ts'
import { eventRow, sharedMembers } from '../../collector/ingest/normalize/eventRow.ts'
import type { Demo } from '../../collector/ops/demo/demo.ts'
import { beaconOf, chrome, customEvent, postBeacon, readEvent, readRows } from '../harness/api.ts'
import { recordOf } from '../harness/record.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'
import { environmentOf, type ScenarioOptions } from './scenario.ts'

export interface PoisonResult {
  /** Rows of the segment that ClickHouse refuses, and the others, of which how many are readable. */
  poisonRows: number
  goodRows: number
  goodReadable: number
  /** From the start with the poison in the spool until an event sent then was readable. */
  sentReadableMs: number
  /** The dead letters, as the collector keeps them: JSON lines in dead_letters. */
  deadLetters: { table: string; reason: string; row: string }[]
  /** The event ids of the poison rows. */
  poisonIds: string[]
}

/** Rows that ClickHouse cannot take, each for another reason. */
const poisons: ((row: string) => string)[] = [
  (row) => row.replace(/"ts_millis":\d+/, '"ts_millis":"x"'),
  (row) => row.replace(/"client_ip":"[^"]*"/, '"client_ip":not JSON'),
]

/**
 * Puts a sealed segment with rows that ClickHouse refuses into the spool, starts the service on it, and sends
 * it an event. The other rows arrive, the event does not wait, and the bad rows become dead letters.
 */
export async function runPoison({ stores, log }: ScenarioOptions): Promise<PoisonResult> {
  const env = environmentOf(stores)
  let service = await startService({ env })
  try {
    await service.end('SIGTERM')
    const good = Array.from({ length: 200 }, () => rowOf(service.demo))
    const poison = poisons.map((spoil) => {
      const { eventId, row } = rowOf(service.demo)
      return { eventId, row: spoil(row) }
    })
    plantSegment(
      service,
      [
        ...good.slice(0, 70),
        poison[0]!,
        ...good.slice(70, 150),
        poison[1]!,
        ...good.slice(150),
      ].map(({ row }) => row),
    )

    service = await startService({ env, dataDir: service.dataDir })
    const event = customEvent()
    const sentAt = Date.now()
    await postBeacon(service.url, beaconOf(service, [event]))
    await readEvent(service, event.event_id)
    const sentReadableMs = Date.now() - sentAt
    log(`an event sent after the poison was readable in ${sentReadableMs} ms`)

    const goodIds = new Set(good.map(({ eventId }) => eventId))
    const readable = async () =>
      (await readRows(service, { limit: '1000' })).filter(({ event_id }) =>
        goodIds.has(event_id as string),
      ).length
    await waitFor('the other rows of the segment', async () => (await readable()) >= good.length)
    const deadLetters = await waitFor('the dead letters', () => {
      const letters = readDeadLetters(service.dataDir)
      return letters.length >= poison.length ? letters : null
    })
    return {
      poisonRows: poison.length,
      goodRows: good.length,
      goodReadable: await readable(),
      sentReadableMs,
      deadLetters,
      poisonIds: poison.map(({ eventId }) => eventId),
    }
  } catch (error) {
    throw new Error(`${(error as Error).message}\nThe service said:\n${service.output()}`, {
      cause: error,
    })
  } finally {
    await service.end('SIGTERM')
    rmSync(service.dataDir, { recursive: true, force: true })
  }
}

/** An events row as ingest makes it. */
function rowOf(demo: Demo): { eventId: string; row: string } {
  const { event_id, event_data } = customEvent()
  const now = Date.now()
  const shared = sharedMembers({
    organizationId: demo.organization_id,
    projectId: demo.project_id,
    pixelId: demo.pixel_id,
    cookieId: randomUUID(),
    clientIp: '203.0.113.7',
    deviceMembers: cachedDevice(chrome).members,
    receivedMillis: now,
    clockCorrectionMs: 0,
  })
  const event = { event_id, event_type: 'custom' as const, event_data, sentMillis: now }
  return { eventId: event_id, row: eventRow(event, shared, now) }
}

/** Writes a sealed segment where the ended spool of events would have left it. */
function plantSegment({ dataDir }: Service, rows: readonly string[]): void {
  const spoolId = randomUUID()
  const directory = join(dataDir, eventsSpoolOf(dataDir))
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, `${spoolId}.0000000000000001.seg`), recordOf(rows, spoolId, 1))
}

/** The folder below the data directory in which events wait. */
function eventsSpoolOf(dataDir: string): string {
  const folders = readdirSync(join(dataDir, 'spool'), { recursive: true, encoding: 'utf8' })
  const events = folders.find((folder) => /(^|\/)events$/.test(folder))
  if (!events) throw new Error(`no spool of events among ${folders.join(', ')}`)
  return join('spool', events)
}

function readDeadLetters(dataDir: string): PoisonResult['deadLetters'] {
  const directory = join(dataDir, 'dead_letters')
  try {
    return readdirSync(directory)
      .filter((name) => name.endsWith('.jsonl'))
      .flatMap((name) => readFileSync(join(directory, name), 'utf8').trim().split('\n'))
      .map((line) => JSON.parse(line))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
