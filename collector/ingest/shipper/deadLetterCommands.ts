import { join } from 'node:path'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { readDeadLetters } from './deadLetters.ts'
import { replayDeadLetters } from './replay.ts'

const directoryIn = (dataDir: string): string => join(dataDir, 'dead_letters')

/** `footfall dead-letters list`: prints each with its reason. */
export function listDeadLetters(dataDir: string): void {
  const letters = readDeadLetters(directoryIn(dataDir)).flatMap((file) => file.letters)
  for (const { table, reason, row } of letters) console.log(`${table}: ${reason}\n  ${row}`)
  console.log(`${letters.length} dead letters`)
}

/** `footfall dead-letters replay`: tries them again. */
export async function replayRefused(
  openStore: () => Promise<ClickHouse>,
  dataDir: string,
): Promise<void> {
  const clickhouse = await openStore()
  const { replayed, refused } = await replayDeadLetters(clickhouse, directoryIn(dataDir))
  await clickhouse.close()
  console.log(`${replayed} replayed, ${refused} refused again`)
}
