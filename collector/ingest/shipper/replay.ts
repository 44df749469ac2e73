import { Readable } from 'node:stream'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { type DeadLetter, readDeadLetters, replaceDeadLetters } from './deadLetters.ts'

/**
 * Inserts at most `most` dead letters of a directory again; refused ones stay, with the new reason. A letter
 * that was inserted before its file could be updated is still stored once.
 */
export async function replayDeadLetters(
  clickhouse: ClickHouse,
  directory: string,
  most = Infinity,
): Promise<{ replayed: number; refused: number }> {
  let [replayed, refused] = [0, 0]
  for (const { path, letters } of readDeadLetters(directory)) {
    if (replayed + refused >= most) break
    const still: DeadLetter[] = []
    for (const letter of letters) {
      if (replayed + refused >= most) {
        still.push(letter)
        continue
      }
      try {
        const line = Readable.from([`${letter.row}\n`], { objectMode: false })
        await clickhouse.insertLines(letter.table, line, `dead letter ${letter.row}`)
        replayed++
      } catch (error) {
        still.push({ ...letter, reason: (error as Error).message })
        refused++
      }
    }
    replaceDeadLetters(path, still)
  }
  return { replayed, refused }
}
