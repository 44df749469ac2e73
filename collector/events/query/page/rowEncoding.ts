/**
 * Encodes the rows of a page in ClickHouse, and extracts them from its bytes. This file parses no row of the page:
 * `outputFormat` makes ClickHouse write rows in the client's format, and `pageOf` ends the stream after
 * `limit` rows.
 */
import type { Readable } from 'node:stream'
import { type Field, isProfileField } from '../../../../schemas/fields.ts'
import { type Format, isTable, type TableFormat } from '../../../api/http/negotiateFormat.ts'
import { startingWith } from '../../../api/http/streaming.ts'
import type { Delivery } from '../../../billing/charge.ts'
import { isFew, memberColumns } from '../../../identity/store/profileSql.ts'
import { runsOf, type TextForm } from '../../../identity/store/profileTexts.ts'
import type {
  NamedFormat,
  OutputFormat,
  ResultStream,
} from '../../../platform/clickhouse/client.ts'
import { detachBuffer } from '../../../platform/nodeInternals/detachBuffer.ts'
import type { Order } from '../order.ts'
import type { RowKey } from './cursor.ts'
import type { EventsPlan } from './eventsPlan.ts'
import { tableRows } from './tableRows.ts'

export interface RowEncoding {
  readonly format: Format
  /**
   * Each row begins with the column `_next`: the key of the last row of all, as `(milliseconds,'event_id')`. It is the
   * same in every row, so it is known when the first bytes arrive, and costs about a fifth more.
   */
  readonly leadsWithNext: boolean
  /**
   * The form of profiles. `columns`: each field as a column. `members`: the encoded members at the end of a
   * row's JSON object, for all fields of the tier. Otherwise one text in JSON or CSV, for adjacent fields.
   */
  readonly profiles: 'columns' | 'members' | TextForm
  /** The encoded members of a visitor without a profile (see profileMembers). */
  readonly membersOfNobody?: 'empty' | 'null'
  /** CSV adds an apostrophe before texts that a spreadsheet would run. */
  readonly escapesFormulas?: boolean
  /** Whether one server has all events. */
  readonly isOfOneServer?: boolean
}

/** Rows of named columns, for queries that another query contains. */
export const plainEncoding: RowEncoding = {
  format: 'json',
  leadsWithNext: false,
  profiles: 'columns',
}

type Columns = Pick<EventsPlan, 'columns' | 'hasAllColumns' | 'escapesFormulas'>

export const rowEncoding = (
  plan: Columns,
  format: Format,
  { leadsWithNext, isOfOneServer = false }: { leadsWithNext: boolean; isOfOneServer?: boolean },
): RowEncoding => ({
  format,
  leadsWithNext,
  isOfOneServer,
  profiles: profilesOf(plan, format),
  escapesFormulas: format === 'csv' && plan.escapesFormulas === true,
})

function profilesOf({ columns, hasAllColumns }: Columns, format: Format): RowEncoding['profiles'] {
  const ofProfile = columns.filter(isProfileField)
  if (isTable(format) || ofProfile.length === 0) return 'columns'
  if (format !== 'csv' && hasAllColumns) return 'members'
  if (isFew(ofProfile)) return 'columns'
  return format === 'csv' ? 'csv' : 'json'
}

/** The name of the first column of rows that lead with the next page's key. No field has this name. */
export const nextColumn = '_next'

const namedFormats = {
  json: 'JSONEachRow',
  ndjson: 'JSONEachRow',
  csv: 'CSV',
  arrow: 'ArrowStream',
  parquet: 'Parquet',
} as const satisfies Record<Format, NamedFormat>

export function outputFormat(
  columns: readonly Field[],
  { format, leadsWithNext, profiles }: RowEncoding,
): OutputFormat {
  if (profiles === 'columns') return namedFormats[format]
  const inCsv = (name: string) => `\${${name}:CSV}`
  const inJson = (name: string) => `"${name}":\${${name}:JSON}`
  const shown = profiles === 'csv' ? inCsv : inJson
  const raw = (name: string) => `\${${name}:Raw}`
  const lead = leadsWithNext ? [shown(nextColumn)] : []
  if (profiles === 'members') {
    const ofEvent = columns.filter((field) => !isProfileField(field)).map(({ name }) => shown(name))
    return { row: `{${[...lead, ...ofEvent].join(',')}${memberColumns.map(raw).join('')}}` }
  }
  const pieces = runsOf(columns).map((piece) =>
    'length' in piece ? raw(piece.name) : shown(piece.name),
  )
  const row = [...lead, ...pieces].join(',')
  return { row: profiles === 'csv' ? row : `{${row}}` }
}

/** A page that is being streamed from ClickHouse to the client. */
export interface Page {
  /** Rows in the page, known before they are read. */
  readonly records: number
  readonly hasMore: boolean
  /** The rows without the bytes before the first and after the last. It can be read once. */
  readonly rows: AsyncIterable<Delivery>
  /** The key of the next page's first row, or null. For a JSON page, read the rows first. */
  next(): RowKey | null
}

type LineFormat = Exclude<Format, TableFormat>

const joints: Record<LineFormat, string> = { json: ',', ndjson: '\n', csv: '\n' }

/** Returns the first `limit` rows of ClickHouse's response in the form of `outputFormat`. */
export async function pageOf(
  { body, rows }: ResultStream,
  { limit, order }: { limit: number; order: Order },
  { format, leadsWithNext }: RowEncoding,
): Promise<Page> {
  const records = Math.min(rows, limit)
  const hasMore = rows > limit
  if (isTable(format))
    return { records, hasMore, rows: tableRows(body, format, records), next: () => null }
  if (records === 0) {
    body.resume()
    return { records, hasMore, rows: noRows(), next: () => null }
  }
  const read = leadsWithNext
    ? await leadingRows(body, records, format)
    : plainRows(body, records, { format, order })
  return { records, hasMore, rows: read.rows, next: () => (hasMore ? read.next() : null) }
}

async function* noRows(): AsyncGenerator<Delivery> {}

/** Each newline ends a row. The row after the page contains the next page's key. */
function plainRows(
  body: Readable,
  rows: number,
  { format, order }: { format: LineFormat; order: Order },
): Pick<Page, 'rows' | 'next'> {
  const rest: Buffer[] = []
  const separator = Buffer.from('\n')
  return {
    rows: joinRows(body, { separator, joint: Buffer.from(joints[format]), rows }, rest),
    next: () => keyOfRow(Buffer.concat(rest), order),
  }
}

function keyOfRow(bytes: Buffer, order: Order): RowKey {
  const row = JSON.parse(bytes.toString()) as {
    ts_millis: number
    received_at: string
    event_id: string
  }
  const millis = order === 'received' ? Date.parse(row.received_at) : row.ts_millis
  return { millis, eventId: row.event_id }
}

const leadPattern = new RegExp(`^(?:\\{"${nextColumn}":)?"\\((-?\\d+),'([0-9a-f-]{36})'\\)",`)

/**
 * Every row begins with the same bytes, `{"_next":"(…)",` or in CSV `"(…)",`. Only the end of a row is a
 * newline followed by these bytes. This is also true in CSV, which doubles quotation marks inside a value.
 */
async function leadingRows(
  body: Readable,
  rows: number,
  format: LineFormat,
): Promise<Pick<Page, 'rows' | 'next'>> {
  const chunks: AsyncIterator<Buffer> = body[Symbol.asyncIterator]()
  let head = Buffer.alloc(0)
  let match: RegExpExecArray | null = null
  while (!match) {
    const { value, done } = await chunks.next()
    if (done) throw new Error('The response of ClickHouse ended before its first row')
    head = Buffer.concat([head, value])
    match = leadPattern.exec(head.toString('latin1', 0, 128))
  }
  const [lead, millis, eventId] = match
  const opening = format === 'csv' ? '' : '{'
  const separator = Buffer.concat([Buffer.from('\n'), head.subarray(0, lead.length)])
  const joined = joinRows(
    startingWith(head.subarray(lead.length), chunks),
    { separator, joint: Buffer.from(joints[format] + opening), rows },
    [],
  )
  return {
    rows: startingWith({ bytes: Buffer.from(opening), records: 0 }, joined[Symbol.asyncIterator]()),
    next: () => ({ millis: Number(millis), eventId: eventId! }),
  }
}

/** A socket returns 64 KiB at a time. Larger pieces are fewer HTTP chunks, which the client parses faster. */
const pieceBytesDefault = 256 * 1024

/** How rows are separated in a stream of bytes, and how the answer joins them. */
interface Joining {
  /** The bytes between two rows, which occur only there. */
  readonly separator: Buffer
  /** The replacement of the separator; not longer than it. */
  readonly joint: Buffer
  /** How many rows to pass on. */
  readonly rows: number
  /** The minimum size of a piece; default 256 KiB. */
  readonly pieceBytes?: number
}

/**
 * Passes on the bytes of the first `rows` rows without parsing them. Each piece consists of complete rows, so that a
 * refund can count the rows that were sent. A piece is valid until the next one is requested. The bytes after the last
 * row go to `rest`. Throws when the stream ends before its last row.
 */
export async function* joinRows(
  chunks: AsyncIterable<Buffer>,
  { separator, joint, rows, pieceBytes = pieceBytesDefault }: Joining,
  rest: Buffer[],
): AsyncGenerator<Delivery> {
  let missing = rows
  // One buffer for all pieces: a new buffer for each would occupy the garbage collector longer than all other work.
  let gathered = Buffer.allocUnsafeSlow(0)
  let length = 0
  let enough = pieceBytes

  const gather = (chunk: Buffer) => {
    if (length + chunk.length > gathered.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (length + chunk.length))
      gathered.copy(larger, 0, 0, length)
      gathered = larger
    }
    chunk.copy(gathered, length)
    length += chunk.length
    detachBuffer(chunk)
  }
  /** Joins the complete rows in place. The bytes from `end` on belong to an incomplete row, or to no row of the page. */
  const join = () => {
    const bytes = gathered.subarray(0, length)
    const before = missing
    let from = 0
    let to = 0
    for (let at = bytes.indexOf(separator); at !== -1; at = bytes.indexOf(separator, from)) {
      if (to !== from) bytes.copyWithin(to, from, at)
      to += at - from
      from = at + separator.length
      missing -= 1
      if (missing === 0) break
      // Buffer's own copy takes longer for its checks than for these few bytes.
      for (let i = 0; i < joint.length; i++) bytes[to++] = joint[i]!
    }
    if (missing === 0) rest.push(Buffer.from(bytes.subarray(from)))
    return { end: from, piece: { bytes: bytes.subarray(0, to), records: before - missing } }
  }

  for await (const chunk of chunks) {
    if (missing === 0) {
      rest.push(chunk)
      continue
    }
    gather(chunk)
    if (length < enough) continue
    const { end, piece } = join()
    if (piece.records > 0) yield piece
    gathered.copyWithin(0, end, length)
    length -= end
    // Avoids that a row longer than a piece is searched again after each of its chunks.
    enough = Math.max(pieceBytes, 2 * length)
  }
  if (missing > 0) {
    const { end, piece } = join()
    if (piece.records > 0) yield piece
    const left = gathered.subarray(end, length)
    const endsWithLastRow = missing === 1 && left.at(-1) === 0x0a
    if (missing > 0 && !endsWithLastRow)
      throw new Error('The response of ClickHouse ended before its last row')
    if (endsWithLastRow) yield { bytes: left.subarray(0, -1), records: 1 }
  }
}
