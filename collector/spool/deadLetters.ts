import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { syncDirectory } from './recover.ts'

/** A row that ClickHouse refuses whatever is tried. */
export interface DeadLetter {
  table: string
  /** ClickHouse's words. */
  reason: string
  /** The JSONEachRow line, as it was refused. */
  row: string
}

/** Adds a dead letter to the file of its segment, durably: JSON lines in `directory`. */
export function keepDeadLetter(directory: string, segment: string, letter: DeadLetter): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const fd = openSync(join(directory, `${segment}.jsonl`), 'a', 0o600)
  try {
    writeSync(fd, `${JSON.stringify(letter)}\n`)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  syncDirectory(directory)
}
