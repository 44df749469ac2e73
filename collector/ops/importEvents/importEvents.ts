import { createHash, randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Progress } from '../../identity/load/load.ts'
import { formatMapping } from '../../identity/load/mapping.ts'
import { openRejectedFile, type RejectedRow } from '../../identity/load/rejectedFile.ts'
import type { Source } from '../../identity/load/source.ts'
import { ShipLeases } from '../../ingest/shipper/shipLeases.ts'
import { ahead } from '../../platform/ahead.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { createSharedClock } from '../../platform/sharedClock.ts'
import { chunksOf, type FilePosition, type RowChunk } from './chunks.ts'
import type { ColumnOptions, ImportedRow } from './columns.ts'
import { createCountEqual, type ImportDeps, importedEvent } from './importedEvent.ts'
import {
  forgetImportState,
  type ImportState,
  readImportState,
  saveImportState,
} from './importState.ts'
import { createNotKept, type NotKept } from './notKept.ts'
import { createIds, type Product, type ProductRecord } from './products/product.ts'
import { type EventChunk, type StoreDeps, storeChunk, storedIds } from './storeChunk.ts'

export interface ImportRequest extends ColumnOptions {
  readonly sources: readonly Source[]
  /** True: validates and counts all rows without storing them. */
  readonly isDryRun: boolean
  /** The report of skipped rows: JSON lines with file, line and reason. */
  readonly reportPath: string
  /** The product that exported the files; absent for events of Footfall's own fields. */
  readonly product?: Product | undefined
}

interface ImportStores {
  readonly clickhouse: ClickHouse
  readonly postgres: { readonly pool: Postgres; readonly url: string }
  readonly dataDir: string
}

export interface Imported extends Pick<ImportState, 'imported' | 'duplicates' | 'skipped'> {
  readonly isResumed: boolean
  /** The reasons of skipped rows of this run, with the numbers of their rows. */
  readonly reasons: ReadonlyMap<string, number>
  /** Of the records of this run. */
  readonly notKept: NotKept
  /** Files that end within a record or an archive. */
  readonly endedEarly: readonly string[]
}

/** The number of rows between two reads of the clock and yields to the event loop. */
const rowsPerTurn = 200

/**
 * Imports the events of files. It validates each row like a beacon, skips events that the project already has, and
 * stores the others. The same request continues a killed import. Throws StartError for unreadable files.
 */
export async function importEvents(
  stores: ImportStores,
  deps: ImportDeps,
  request: ImportRequest,
  tell: { progress(progress: Progress): void; retry(error: Error): void },
): Promise<Imported> {
  const { dataDir } = stores
  const { isDryRun, sources, reportPath, product } = request
  const importId = importIdOf(deps, request)
  const unfinished = isDryRun ? null : readImportState(dataDir, importId)
  let state = unfinished ?? newState()
  const report = openRejectedFile(reportPath, state.reportBytes)
  const clock = createSharedClock()
  await clock.compare(stores.postgres.pool)
  const leases = new ShipLeases(stores.postgres.url, randomUUID())
  const store: StoreDeps = {
    clickhouse: stores.clickhouse,
    leases,
    clock,
    projectId: deps.pixel.projectId,
    spoolId: state.spoolId,
    deadLetterDirectory: join(dataDir, 'dead_letters'),
    onRetry: tell.retry,
  }
  let isUncertain = unfinished !== null
  const reasons = new Map<string, number>()
  const notKept = createNotKept(product?.fields ?? [])
  const idOf = product && createIds(product.name, deps.pixel.eventIdKey)
  const endedEarly = new Set<string>()
  try {
    for (const [index, source] of sources.entries()) {
      if (index < state.file) continue
      if (index > state.file) state = { ...state, file: index, bytes: 0, lines: 0 }
      const bytesBefore = sources.slice(0, index).reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
      const show = (bytes: number) =>
        tell.progress({ rows: state.imported, rejected: state.skipped, bytes })
      show(bytesBefore)
      const options = {
        ...request,
        clickhouse: stores.clickhouse.nodes[0]!,
        stage: `import_${importId}`,
        rowsOf:
          product &&
          ((record: ProductRecord) => {
            notKept.count(record)
            return product.rowsOf(record, idOf!)
          }),
        onEarlyEnd: () => endedEarly.add(source.name),
      }
      const chunks = chunksOf(source, state, options)
      for await (const chunk of ahead(prepare(deps, source, chunks, state))) {
        const events = { ...chunk.events, isUncertain }
        const stored = isDryRun ? await check(store, events) : await storeChunk(store, events)
        isUncertain = false
        countReasons(reasons, chunk.skipped)
        state = {
          ...state,
          ...chunk.end,
          seq: chunk.seq,
          imported: state.imported + stored.imported,
          duplicates: state.duplicates + chunk.repeats + stored.duplicates,
          skipped: state.skipped + chunk.skipped.length + stored.refused,
          reportBytes: report.append(chunk.skipped),
        }
        if (!isDryRun) saveImportState(dataDir, importId, state)
        show(bytesBefore + source.position())
      }
    }
  } finally {
    leases.close()
  }
  forgetImportState(dataDir, importId)
  return {
    ...state,
    isResumed: unfinished !== null,
    reasons,
    notKept: notKept.counts,
    endedEarly: [...endedEarly],
  }
}

/** The id of an import, which is the same for the same files and options. */
function importIdOf({ pixel, fromProjectId }: ImportDeps, request: ImportRequest): string {
  const { sources, mapping, ignoreUnknown, product } = request
  const files = sources.map(({ identity, format }) => [identity ?? randomUUID(), format])
  const own = product ? [product.name, ...product.facts] : [fromProjectId]
  const facts = [pixel.pixelId, formatMapping(mapping), ignoreUnknown, files, ...own]
  return createHash('sha256').update(JSON.stringify(facts)).digest('hex').slice(0, 24)
}

/** Reasons may quote values, so only this many are counted. */
const reasonsMax = 100

function countReasons(reasons: Map<string, number>, skipped: readonly RejectedRow[]): void {
  for (const { reason } of skipped) {
    const key = reasons.has(reason) || reasons.size < reasonsMax ? reason : 'other reasons'
    reasons.set(key, (reasons.get(key) ?? 0) + 1)
  }
}

const newState = (): ImportState => ({
  spoolId: randomUUID(),
  seq: 0,
  file: 0,
  bytes: 0,
  lines: 0,
  imported: 0,
  duplicates: 0,
  skipped: 0,
  reportBytes: 0,
})

interface Prepared {
  readonly events: Omit<EventChunk, 'isUncertain'>
  readonly repeats: number
  readonly skipped: readonly RejectedRow[]
  /** The number of rows read so far. */
  readonly seq: number
  readonly end: FilePosition
}

async function* prepare(
  deps: ImportDeps,
  { name: file }: Source,
  chunks: AsyncIterable<RowChunk>,
  from: Pick<ImportState, 'seq' | 'spoolId'>,
): AsyncGenerator<Prepared> {
  let { seq } = from
  for await (const chunk of chunks) {
    const lines = new LineBuffer()
    const ids = new Set<string>()
    const countEqual = createCountEqual()
    const times: number[] = []
    const skipped: RejectedRow[] = []
    const first = seq + 1
    let repeats = 0
    let now = Date.now()
    for (const { line, row } of chunk.rows()) {
      if (seq++ % rowsPerTurn === 0) {
        await nextTurn()
        now = Date.now()
      }
      const event = 'unreadable' in row ? row : importedEvent(deps, row, now, countEqual)
      if ('unreadable' in event) skipped.push({ file, line, reason: event.unreadable })
      else if ('path' in event) {
        const reason = `${event.path.slice(1).replaceAll('/', '.')} ${event.message}`
        skipped.push({ file, line, reason, ...eventIdIn(row) })
      } else if (ids.has(event.eventId)) repeats++
      else {
        ids.add(event.eventId)
        times.push(event.tsMillis)
        lines.add(`${event.row.slice(0, -1)},"spool_id":"${from.spoolId}","seq":${seq}}\n`)
      }
    }
    const events = { payload: lines.bytes, ids: [...ids], times, seqs: [first, seq] } as const
    yield { events, repeats, skipped, seq, end: chunk.end }
  }
}

const eventIdIn = (row: ImportedRow | object): Pick<RejectedRow, 'record'> =>
  'event_id' in row && typeof row.event_id === 'string'
    ? { record: { event_id: row.event_id } }
    : {}

/** Returns the counts of storeChunk without storing anything. */
async function check(store: StoreDeps, { ids }: EventChunk) {
  const stored = await storedIds(store, ids)
  return { imported: ids.length - stored.size, duplicates: stored.size, refused: 0 }
}

const bytesFirst = 16 * 1024 * 1024
/** The maximum number of UTF-8 bytes for one UTF-16 unit. */
const bytesPerUnit = 3

/** Collects lines as bytes, because long-lived strings would slow down the garbage collector. */
class LineBuffer {
  #bytes = Buffer.allocUnsafeSlow(bytesFirst)
  #length = 0

  add(line: string): void {
    const needed = this.#length + bytesPerUnit * line.length
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * needed)
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    this.#length += this.#bytes.write(line, this.#length)
  }

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#length)
  }
}
