import { isUtf8 } from 'node:buffer'
import { invalidParameter, malformed } from '../../../api/http/errors.ts'
import { type CsvField, fieldOf, readCsvRecord } from '../file/csvRecord.ts'
import { type ImportFile, recordBytesMax } from '../file/importFile.ts'
import type { FilePosition } from '../file/readChunk.ts'
import { isItem, type Kind, usualNames } from '../kinds.ts'

/** The format of a file, without its size, and the start of its rows. */
export interface Head {
  readonly file: Omit<ImportFile, 'bytes'>
  readonly begin: FilePosition
}

/** Delimiters of CSV files: the first one in the header is used. */
const delimiters = [',', ';', '\t', '|']
const namesShown = 20
/** First bytes of a Zstandard archive. */
const zstandardMark = 0xfd2fb528
const columnsMax = 1_000

/**
 * Finds the column of a file with items of a type, from its beginning, which contains the complete first
 * line. It is the column `columnName`, or the one with a default name of the type. A file of one column needs no
 * header. Throws 400 "invalid_parameter" for a missing column, and "malformed" for binary data.
 */
export function findColumn(
  head: Buffer,
  {
    format,
    kind,
    columnName,
  }: { format: ImportFile['format']; kind: Kind; columnName: string | undefined },
): Head {
  const start = hasByteOrderMark(head) ? 3 : 0
  const lineEnd = head.indexOf(0x0a) + 1 || head.length
  const line = head.subarray(start, lineEnd)
  if (line.length === 0) throw malformed('The file is empty.')
  if (line.length >= 4 && line.readUInt32LE(0) === zstandardMark)
    throw malformed('Zstandard is not supported. Send the file plain or as gzip.')
  if (!isUtf8(line) || line.includes(0)) throw malformed('The file is not UTF-8 text.')
  if (line.length > recordBytesMax) {
    throw malformed(
      'The file has no line break within its first 64 KiB, so it is neither CSV nor NDJSON.',
    )
  }
  if (format === 'csv') return csvHead(head.subarray(0, lineEnd), start, kind, columnName)
  return jsonHead(columnOfJson(line.toString('utf8'), kind, columnName), start)
}

/** None is checked earlier: an invalid item says nothing about the others. */
export const headOfItems = (kind: Kind): Head => jsonHead(usualNames[kind][0], 0)

const jsonHead = (column: string, start: number): Head => ({
  file: { format: 'ndjson', column, index: 0, fields: 1, delimiter: ',' },
  begin: { bytes: start, lines: 0 },
})

const hasByteOrderMark = (head: Buffer): boolean =>
  head.length >= 3 && head.readUIntBE(0, 3) === 0xefbbbf

function csvHead(line: Buffer, start: number, kind: Kind, columnName: string | undefined): Head {
  const delimiter = delimiters.find((sign) => line.includes(sign)) ?? ','
  const names = namesIn(line, start, delimiter)
  const headOf = (column: string, index: number, begin: FilePosition): Head => ({
    file: { format: 'csv', column, index, fields: names.length, delimiter },
    begin,
  })
  const afterHeader = { bytes: line.length, lines: 1 }
  const columnIndex = indexOfName(names, columnName === undefined ? usualNames[kind] : [columnName])
  if (columnIndex !== -1) return headOf(names[columnIndex]!, columnIndex, afterHeader)
  if (columnName === undefined && names.length === 1 && isItem(kind, names[0]!)) {
    return headOf('', 0, { bytes: start, lines: 0 })
  }
  throw noColumn(columnName, kind, names)
}

/** Returns the fields of the first line. Throws 400 for invalid CSV. */
function namesIn(line: Buffer, start: number, delimiter: string): string[] {
  const fields: CsvField[] = []
  const { fault } = readCsvRecord(line, start, delimiter.charCodeAt(0), 0, (field) =>
    fields.push(field),
  )
  if (fault)
    throw malformed(
      'The first line is not a CSV header: a quote is not closed, or text follows it.',
    )
  if (fields.length > columnsMax)
    throw malformed(`The file must have at most ${columnsMax} columns.`)
  return fields.map((field) => fieldOf(line, field).toString('utf8').trim())
}

/** Returns the index of the first name in `candidates`, compared exactly, then ignoring case. */
function indexOfName(names: readonly string[], candidates: readonly string[]): number {
  const exact = names.findIndex((name) => candidates.includes(name))
  return exact !== -1 ? exact : names.findIndex((name) => candidates.includes(name.toLowerCase()))
}

function columnOfJson(line: string, kind: Kind, columnName: string | undefined): string {
  const first = parse(line)
  // The first line may be invalid although the others are valid.
  if (typeof first !== 'object' || first === null) return columnName ?? usualNames[kind][0]
  const names = Object.keys(first)
  const columnIndex = indexOfName(names, columnName === undefined ? usualNames[kind] : [columnName])
  if (columnIndex === -1) throw noColumn(columnName, kind, names)
  return names[columnIndex]!
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}

function noColumn(columnName: string | undefined, kind: Kind, names: readonly string[]) {
  const shown = names.slice(0, namesShown).map((name) => `"${name.slice(0, 60)}"`)
  const there = `${shown.join(', ')}${names.length > namesShown ? ', …' : ''}`
  return invalidParameter(
    'column',
    columnName === undefined
      ? `must name the column with the ${kind}; the file has ${there}`
      : `the file has no column "${columnName}"; it has ${there}`,
  )
}
