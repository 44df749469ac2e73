import { isUtf8 } from 'node:buffer'
import { recordsOf } from './records.ts'
import type { Format } from './source.ts'

export interface Malformed {
  /** Number of lines of the chunk before the record. */
  readonly lines: number
  readonly reason: string
  readonly text: string
}

export interface Filtered {
  /** The readable records. */
  readonly bytes: Buffer
  /** Number of lines of the chunk before each record. */
  readonly lines: readonly number[]
  readonly unreadable: readonly Malformed[]
}

const textMax = 10_000

/**
 * Removes unreadable records from a damaged chunk. It tests one record at a time, which is slow, so it is
 * used only for chunks that ClickHouse refused.
 */
export function filterMalformed(
  bytes: Buffer,
  format: Format,
  columns: readonly string[],
  ignoreUnknown: boolean,
): Filtered {
  const faultOf = format === 'csv' ? csvFault(columns.length) : jsonFault(columns, ignoreUnknown)
  const kept: Buffer[] = []
  const lines: number[] = []
  const unreadable: Malformed[] = []
  for (const { start, end, lines: before, isWhole } of recordsOf(bytes, format)) {
    const record = bytes.subarray(start, end)
    const text = record.toString('utf8').trimEnd()
    const reason = !isUtf8(record) ? 'not UTF-8' : isWhole ? faultOf(text) : 'a quote is not closed'
    if (reason) unreadable.push({ lines: before, reason, text: text.slice(0, textMax) })
    else {
      kept.push(record)
      lines.push(before)
    }
  }
  return { bytes: Buffer.concat(kept), lines, unreadable }
}

/** A field in ClickHouse's CSV: quoted, or without a quote at its beginning. */
const csvField = /[ \t]*"[^"]*(?:""[^"]*)*"[ \t]*|[^",\r\n][^,\r\n]*|/y

const csvFault =
  (columns: number) =>
  (text: string): string | null => {
    let fields = 0
    for (let at = 0; at <= text.length; at++) {
      csvField.lastIndex = at
      at += csvField.exec(text)?.[0].length ?? 0
      fields++
      if (at < text.length && text[at] !== ',')
        return 'a closed quote must be followed by a separator or the line end'
    }
    return fields === columns ? null : `${fields} fields instead of ${columns}`
  }

function jsonFault(columns: readonly string[], ignoreUnknown: boolean) {
  const known = new Set(columns)
  return (text: string): string | null => {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch (error) {
      return `not JSON: ${(error as Error).message}`
    }
    if (value === null || typeof value !== 'object' || Array.isArray(value))
      return 'not a JSON object'
    const unknown = Object.keys(value).find((key) => !known.has(key))
    return unknown === undefined || ignoreUnknown ? null : `no field is named "${unknown}"`
  }
}
