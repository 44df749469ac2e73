import { join } from 'node:path'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { readDeadLetters } from './deadLetters.ts'
import { replayDeadLetters } from './replay.ts'

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
