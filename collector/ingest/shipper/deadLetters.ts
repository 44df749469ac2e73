import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { syncDirectory } from '../spool/segmentFile.ts'

/** A row that ClickHouse always refuses. */
export interface DeadLetter {
  table: string
  /** ClickHouse's message. */
  reason: string
  /** The refused JSONEachRow line. */
  row: string
}

/** Adds a dead letter to the file of its segment, durably: JSON lines in `directory`. */
export function appendDeadLetter(directory: string, segment: string, letter: DeadLetter): void {
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

/** The dead letters of one segment. */
export interface LetterFile {
  path: string
  letters: DeadLetter[]
}

/** Reads all dead letters of a directory; none if it does not exist. */
export function readDeadLetters(directory: string): LetterFile[] {
  if (!existsSync(directory)) return []
  return readdirSync(directory)
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(directory, name))
    .map((path) => ({
      path,
      letters: readFileSync(path, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as DeadLetter),
    }))
}

/** Replaces the letters of a file, or deletes the file if there are none. */
export function replaceDeadLetters(path: string, letters: readonly DeadLetter[]): void {
  if (letters.length === 0) {
    unlinkSync(path)
    return
  }
  writeFileSync(`${path}.draft`, letters.map((letter) => `${JSON.stringify(letter)}\n`).join(''), {
    mode: 0o600,
  })
  renameSync(`${path}.draft`, path)
}

/** Deletes the letters with a row for which `isAbout` returns true. */
export function dropDeadLetters(directory: string, isAbout: (row: string) => boolean): void {
  for (const { path, letters } of readDeadLetters(directory)) {
    const kept = letters.filter(({ row }) => !isAbout(row))
    if (kept.length < letters.length) replaceDeadLetters(path, kept)
  }
}
