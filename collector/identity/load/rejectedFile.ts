import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { StartError } from '../../platform/startError.ts'

export interface RejectedRow {
  readonly file: string
  /** The line where the row begins, from 1; in a Parquet file the row's number. */
  readonly line: number
  readonly reason: string
  /** The row's columns; for CSV as text. */
  readonly record?: Record<string, unknown>
  /** The text, if it cannot be read as a row. */
  readonly text?: string
}

interface RejectedFile {
  /** Appends rows durably and returns the file's length. */
  append(rows: readonly RejectedRow[]): number
}

/** Content after the first `bytes` belongs to a chunk that is repeated, so it is deleted. */
export function openRejectedFile(path: string, bytes: number): RejectedFile {
  let length = 0
  try {
    if (bytes === 0) rmSync(path, { force: true })
    else if (existsSync(path)) {
      length = Math.min(bytes, statSync(path).size)
      truncateSync(path, length)
    }
  } catch (error) {
    throw new StartError(`--rejected: ${(error as Error).message}`)
  }
  return {
    append(rows) {
      if (rows.length === 0) return length
      const lines = Buffer.from(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
      const file = openSync(path, 'a', 0o600)
      try {
        writeSync(file, lines)
        fsyncSync(file)
      } finally {
        closeSync(file)
      }
      length += lines.length
      return length
    },
  }
}
