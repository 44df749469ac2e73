import { isUtf8 } from 'node:buffer'
import { fieldOf, readCsvRecord } from '../../audiences/lists/file/csvRecord.ts'
import { reasons } from '../../audiences/lists/reasons.ts'
import { countLines } from '../../identity/load/records.ts'
import { markLongIntegers } from '../../ingest/normalize/exactNumbers.ts'
import { isObject } from '../../platform/json.ts'
import { StartError } from '../../platform/startError.ts'
import {
  type ColumnOptions,
  columnsOfHeader,
  createColumnOfKey,
  type ImportedColumn,
  type ImportedRow,
} from './columns.ts'
import type { ProductRecord, ProductRow } from './products/product.ts'

/** A row of a file, or the reason why it is unreadable. */
export interface FileRow {
  /** From 1; in a Parquet file the number of the row. */
  line: number
  row: ImportedRow | { unreadable: string }
}

/** Reads the rows of complete records; `linesBefore` are the lines of the file before them. */
type ReadRows = (bytes: Buffer, linesBefore: number) => Generator<FileRow>

const comma = 0x2c
const newline = 0x0a

/** A record of a file, or the reason why it is unreadable. */
type FileRecord<Content> = { line: number } & ({ record: Content } | { unreadable: string })

/** Reads CSV with this header (RFC 4180). Throws StartError for an unknown column. */
export function createCsvReader(header: Buffer, options: ColumnOptions): ReadRows {
  const names = namesOf(header)
  const chosen = columnsOfHeader(names, options)
  const columns = names.map((name) => chosen.get(name))
  return function* (bytes, linesBefore) {
    for (const read of csvRecords(bytes, linesBefore, names.length))
      yield { line: read.line, row: 'record' in read ? rowOf(columns, read.record) : read }
  }
}

/** Reads records of another product's export, each of which may have several rows or none. */
export function createProductReader(
  header: Buffer | null,
  rowsOf: (record: ProductRecord) => Iterable<ProductRow>,
): ReadRows {
  const names = header && namesOf(header)
  return function* (bytes, linesBefore) {
    const records = names
      ? namedRecords(csvRecords(bytes, linesBefore, names.length), names)
      : jsonRecords(bytes, linesBefore)
    for (const read of records) {
      const { line } = read
      if ('unreadable' in read) yield { line, row: read }
      else for (const row of rowsOf(read.record)) yield { line, row }
    }
  }
}

function* namedRecords(
  records: Iterable<FileRecord<readonly (string | undefined)[]>>,
  names: readonly string[],
): Generator<FileRecord<ProductRecord>> {
  for (const read of records) {
    if ('unreadable' in read) yield read
    else {
      const { line, record: texts } = read
      yield { line, record: Object.fromEntries(names.map((name, at) => [name, texts[at]])) }
    }
  }
}

function* jsonRecords(bytes: Buffer, linesBefore: number): Generator<FileRecord<ProductRecord>> {
  for (const read of jsonLines(bytes, linesBefore)) {
    const { line } = read
    const record = 'record' in read ? objectOf(read.record) : read.unreadable
    yield typeof record === 'string' ? { line, unreadable: record } : { line, record }
  }
}

/** Reads a header. Throws StartError for one that is not text in UTF-8. */
function namesOf(header: Buffer): string[] {
  if (!isUtf8(header) || header.includes(0))
    throw new StartError(
      'the file is not UTF-8 text. Convert it first, for Latin-1 with: iconv -f latin1 -t utf-8',
    )
  return textsOf(header, 0).texts.map((name) => name ?? '')
}

function* csvRecords(
  bytes: Buffer,
  linesBefore: number,
  fields: number,
): Generator<FileRecord<(string | undefined)[]>> {
  let line = linesBefore + 1
  for (let start = 0; start < bytes.length; ) {
    const { end, fault, texts } = textsOf(bytes, start)
    const record = bytes.subarray(start, end)
    const isEmpty = texts.length === 1 && texts[0] === undefined
    if (fault) yield { line, unreadable: reasons[fault] }
    else if (!isEmpty && texts.length !== fields)
      yield { line, unreadable: reasons.wrong_field_count }
    else if (!isEmpty && !isUtf8(record)) yield { line, unreadable: reasons.not_utf8 }
    else if (!isEmpty) yield { line, record: texts }
    line += countLines(record)
    start = end
  }
}

/** The texts of a record, undefined for empty ones. */
function textsOf(bytes: Buffer, start: number) {
  const texts: (string | undefined)[] = []
  const { end, fault } = readCsvRecord(bytes, start, comma, 0, (field) => {
    const { from, isQuoted } = field
    // A line may end in CR and LF.
    const to = !isQuoted && bytes[field.to - 1] === 0x0d ? field.to - 1 : field.to
    texts.push(fieldOf(bytes, { from, to, isQuoted }).toString() || undefined)
  })
  return { end, fault, texts }
}

function rowOf(
  columns: readonly (ImportedColumn | undefined)[],
  texts: readonly (string | undefined)[],
): ImportedRow {
  const row: ImportedRow = {}
  for (let index = 0; index < columns.length; index++) {
    const column = columns[index]
    if (column !== undefined && texts[index] !== undefined) row[column] = texts[index]
  }
  return row
}

export function createJsonReader(options: ColumnOptions): ReadRows {
  const columnOf = createColumnOfKey(options)
  return function* (bytes, linesBefore) {
    for (const read of jsonLines(bytes, linesBefore))
      yield { line: read.line, row: 'record' in read ? rowOfJson(read.record, columnOf) : read }
  }
}

/** The lines that are not empty. */
function* jsonLines(bytes: Buffer, linesBefore: number): Generator<FileRecord<string>> {
  const areUtf8 = isUtf8(bytes)
  let line = linesBefore
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(newline, start) + 1 || bytes.length
    const record = bytes.subarray(start, end)
    line++
    start = end
    if (!areUtf8 && !isUtf8(record)) {
      yield { line, unreadable: reasons.not_utf8 }
      continue
    }
    const text = record.toString()
    if (text.trim() !== '') yield { line, record: text }
  }
}

/** Parses an object of JSON, or returns the reason why the line has none. */
function objectOf(text: string): Record<string, unknown> | string {
  try {
    const read: unknown = JSON.parse(text)
    return isObject(read) ? read : 'the line is not a JSON object'
  } catch {
    return reasons.not_json
  }
}

function rowOfJson(text: string, columnOf: ReturnType<typeof createColumnOfKey>): FileRow['row'] {
  const read = objectOf(text)
  if (typeof read === 'string') return { unreadable: read }
  const row: ImportedRow = {}
  let dataKey = ''
  for (const key in read) {
    const value = read[key]
    if (value === null) continue
    const column = columnOf(key)
    if (column === undefined)
      return { unreadable: `unknown column "${key.slice(0, 100)}": use --map or --ignore-unknown` }
    if (column === null || value === '') continue
    row[column] = value
    if (column === 'event_data') dataKey = key
  }
  if (isObject(row.event_data)) keepLongIntegers(text, row, dataKey)
  return row
}

/** Adds `event_data` with marked long integers (exactNumbers.ts), which JavaScript numbers cannot represent. */
function keepLongIntegers(text: string, row: ImportedRow, key: string): void {
  const marked = markLongIntegers(text)
  if (marked !== null) row.exactData = JSON.parse(marked)[key]
}
