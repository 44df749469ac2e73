import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { hashId } from '../../ingest/shipper/bloomFilter.ts'
import {
  insertBatch,
  isBeingInserted,
  queryIdOf,
  shardPartsOf,
} from '../../ingest/shipper/insert.ts'
import type { ShipLease, ShipLeases } from '../../ingest/shipper/shipLeases.ts'
import { idWordsAt, nextLineAt } from '../../ingest/spool/rowFields.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { SharedClock } from '../../platform/sharedClock.ts'

/** Events of a chunk, each id once. */
export interface EventChunk {
  /** Their lines, in the same order. */
  readonly payload: Buffer
  readonly ids: readonly string[]
  readonly times: readonly number[]
  /** The `seq` of the first row of the chunk, and of the last one. */
  readonly seqs: readonly [first: number, last: number]
  /** Whether an earlier try may have stored some of the events under this import's `spool_id`. */
  isUncertain: boolean
}

/** The outcome of a chunk: numbers of events. */
interface StoredChunk {
  readonly imported: number
  readonly duplicates: number
  /** ClickHouse refused these; they are dead letters. */
  readonly refused: number
}

export interface StoreDeps {
  readonly clickhouse: ClickHouse
  readonly leases: ShipLeases
  readonly clock: SharedClock
  readonly projectId: string
  readonly spoolId: string
  readonly deadLetterDirectory: string
  onRetry(error: Error): void
}

/**
 * The time by which `received_at` of imported events is in the future. No reader in order of arrival passes it
 * before the insert ends. So `complete_until` need not wait for an import, even a killed one.
 */
const receivedAheadMs = 300_000
/** The time until an insert of a lost lease appears in ClickHouse's list of running queries. */
const arrivingMs = 1_000
const retryMsFirst = 200
const retryMsMax = 5_000
const triesMax = 20

/**
 * Stores the events of a chunk that the project does not have, and counts all. It holds the shippers' lease during
 * its insert, so that live and imported events are deduplicated against each other. Retries after errors, and
 * throws the last one.
 */
export async function storeChunk(deps: StoreDeps, chunk: EventChunk): Promise<StoredChunk> {
  if (chunk.ids.length === 0) return { imported: 0, duplicates: 0, refused: 0 }
  for (
    let tries = 1, retryMs = retryMsFirst;
    ;
    tries++, retryMs = Math.min(retryMs * 2, retryMsMax)
  ) {
    try {
      return await tryToStore(deps, chunk)
    } catch (error) {
      chunk.isUncertain = true
      if (tries === triesMax) throw error
      deps.onRetry(error as Error)
      await delay(retryMs)
    }
  }
}

async function tryToStore(deps: StoreDeps, chunk: EventChunk): Promise<StoredChunk> {
  const { ids, payload } = chunk
  const hashes = hashesOf(payload, ids.length)
  const before = await storedIds(deps, ids)
  const lease = await deps.leases.acquire(hashes)
  try {
    const stored = await storedUnderLease(deps, chunk, hashes, lease, before)
    const own = chunk.isUncertain ? await countOwn(deps, chunk) : 0
    const refused = await insertMissing(deps, chunk, stored, lease)
    await lease.release()
    const inserted = ids.length - stored.size - refused
    return { imported: inserted + own, duplicates: stored.size - own, refused }
  } catch (error) {
    lease.abandon()
    throw error
  }
}

function hashesOf(payload: Buffer, rows: number): Uint32Array {
  const hashes = new Uint32Array(rows * 2)
  const id = new Uint32Array(4)
  for (let start = 0, at = 0; start < payload.length; start = nextLineAt(payload, start), at += 2) {
    idWordsAt(payload, start, id)
    hashId(id, hashes, at)
  }
  return hashes
}

export async function storedIds(
  { clickhouse, projectId }: Pick<StoreDeps, 'clickhouse' | 'projectId'>,
  ids: readonly string[],
): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const { body } = await clickhouse.stream(
    {
      sql: `SELECT event_id FROM events
            WHERE project_id = {projectId:UUID} AND event_id IN (SELECT toUUID(value) FROM ids)`,
      params: { projectId },
      lists: { ids },
    },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: ClickHouse's own placeholder
    { row: '${event_id:Raw}' },
  )
  return new Set((await text(body)).split('\n').filter(Boolean))
}

/** Returns the stored ids, including those that other processes stored after `before` was read. */
async function storedUnderLease(
  deps: StoreDeps,
  { ids, isUncertain }: EventChunk,
  hashes: Uint32Array,
  { mayOtherInsertsRun, idsOfOthers }: ShipLease,
  before: Set<string>,
): Promise<Set<string>> {
  if (mayOtherInsertsRun) {
    await delay(arrivingMs)
    while (await isBeingInserted(deps.clickhouse, queryIdOf(''))) await delay(retryMsFirst)
  }
  if (mayOtherInsertsRun || isUncertain || idsOfOthers === null) return storedIds(deps, ids)
  const firstWords = new Set(idsOfOthers.filter((_, at) => at % 2 === 0))
  const suspects = ids.filter((_, index) => firstWords.has(hashes[index * 2]!))
  const since = await storedIds(deps, suspects)
  return new Set([...before, ...since])
}

/** Counts the events of the chunk that earlier tries of this import stored. */
async function countOwn(
  { clickhouse, projectId, spoolId }: StoreDeps,
  { times, seqs: [first, last] }: EventChunk,
): Promise<number> {
  const [row] = await clickhouse.rows<{ own: number }>({
    sql: `SELECT toUInt32(count()) AS own FROM events
          WHERE project_id = {projectId:UUID} AND ts_millis BETWEEN {from:Int64} AND {to:Int64}
            AND spool_id = {spoolId:UUID} AND seq BETWEEN {first:UInt64} AND {last:UInt64}`,
    params: {
      projectId,
      spoolId,
      from: times.reduce((least, time) => Math.min(least, time), Infinity),
      to: times.reduce((most, time) => Math.max(most, time), -Infinity),
      first,
      last,
    },
  })
  return row!.own
}

/** Inserts the missing events. Returns the number that ClickHouse refused. */
async function insertMissing(
  deps: StoreDeps,
  { payload, ids, seqs }: EventChunk,
  stored: ReadonlySet<string>,
  lease: ShipLease,
): Promise<number> {
  const rows = ids.length - stored.size
  const name = `${deps.spoolId}.${String(seqs[0]).padStart(16, '0')}`
  const receivedMillis = deps.clock.latest() + receivedAheadMs
  const payloads = [...missingLines(payload, ids, stored, new Date(receivedMillis).toISOString())]
  let refused = 0
  await insertBatch(
    {
      clickhouse: deps.clickhouse,
      table: 'events',
      deadLetterDirectory: deps.deadLetterDirectory,
      lease,
      observe: { deadLetter: () => refused++ },
    },
    {
      name,
      parts: shardPartsOf(deps.clickhouse, 'events', payloads),
      token: randomUUID(),
      rows,
      oldestAt: receivedMillis,
      refused: 0,
    },
  )
  return refused
}

const receivedMember = '"received_at":"'

/** Yields the lines of missing events with this `received_at`, in as few pieces as possible. */
function* missingLines(
  payload: Buffer,
  ids: readonly string[],
  stored: ReadonlySet<string>,
  receivedAt: string,
): Generator<Buffer> {
  let from = 0
  let start = 0
  for (const eventId of ids) {
    const end = nextLineAt(payload, start)
    // Columns with visitors' content follow this member, so the first match is the right one.
    payload.write(receivedAt, payload.indexOf(receivedMember, start) + receivedMember.length)
    if (stored.has(eventId)) {
      if (start > from) yield payload.subarray(from, start)
      from = end
    }
    start = end
  }
  if (start > from) yield payload.subarray(from, start)
}
