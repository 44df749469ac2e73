import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
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

/** Removes the letters whose row `isAbout` says is to go. */
export function dropDeadLetters(directory: string, isAbout: (row: string) => boolean): void {
  if (!existsSync(directory)) return
  for (const name of readdirSync(directory).filter((file) => file.endsWith('.jsonl'))) {
    const path = join(directory, name)
    const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean)
    const kept = lines.filter((line) => !isAbout((JSON.parse(line) as DeadLetter).row))
    if (kept.length === lines.length) continue
    writeFileSync(`${path}.draft`, kept.map((line) => `${line}\n`).join(''), { mode: 0o600 })
    renameSync(`${path}.draft`, path)
  }
}
