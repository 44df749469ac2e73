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
import { Readable } from 'node:stream'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { syncDirectory } from '../spool/segmentFile.ts'

/** A row that ClickHouse always refuses. */
interface DeadLetter {
  table: string
  reason: string
  row: string
}

/** Adds a dead letter to the file of its batch, durably: JSON lines in `directory`. */
export function appendDeadLetter(directory: string, batch: string, letter: DeadLetter): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const fd = openSync(join(directory, `${batch}.jsonl`), 'a', 0o600)
  try {
    writeSync(fd, `${JSON.stringify(letter)}\n`)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  syncDirectory(directory)
}

interface LetterFile {
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
function replaceDeadLetters(path: string, letters: readonly DeadLetter[]): void {
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
    const remaining = letters.filter(({ row }) => !isAbout(row))
    if (remaining.length < letters.length) replaceDeadLetters(path, remaining)
  }
}

/**
 * Inserts at most `limit` dead letters of a directory again; refused ones stay, with the new reason. A letter
 * that was inserted before its file could be updated is still stored once.
 */
export async function replayDeadLetters(
  clickhouse: ClickHouse,
  directory: string,
  limit = Infinity,
): Promise<{ replayed: number; refused: number }> {
  let [replayed, refused] = [0, 0]
  for (const { path, letters } of readDeadLetters(directory)) {
    if (replayed + refused >= limit) break
    const remaining: DeadLetter[] = []
    for (const letter of letters) {
      if (replayed + refused >= limit) {
        remaining.push(letter)
        continue
      }
      try {
        const line = Readable.from([`${letter.row}\n`], { objectMode: false })
        await clickhouse.insertLines(letter.table, line, `dead letter ${letter.row}`)
        replayed++
      } catch (error) {
        remaining.push({ ...letter, reason: (error as Error).message })
        refused++
      }
    }
    replaceDeadLetters(path, remaining)
  }
  return { replayed, refused }
}

const directoryIn = (dataDir: string): string => join(dataDir, 'dead_letters')

/** Prints each dead letter with its reason (`footfall dead-letters list`). */
export function listDeadLetters(dataDir: string): void {
  const letters = readDeadLetters(directoryIn(dataDir)).flatMap((file) => file.letters)
  for (const { table, reason, row } of letters) console.log(`${table}: ${reason}\n  ${row}`)
  console.log(`${letters.length} dead letters`)
}

/** Retries the dead letters (`footfall dead-letters replay`). */
export async function replayRefused(
  openStore: () => Promise<ClickHouse>,
  dataDir: string,
): Promise<void> {
  const clickhouse = await openStore()
  const { replayed, refused } = await replayDeadLetters(clickhouse, directoryIn(dataDir))
  await clickhouse.close()
  console.log(`${replayed} replayed, ${refused} refused again`)
}
