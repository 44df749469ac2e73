import type { ClickHouse } from '../../../platform/clickhouse/client.ts'
import type { Chunk } from '../file/readChunk.ts'
import { encodedRowsQuery, type LinesOf, plainLinesQuery } from './linesQuery.ts'

/**
 * A row's position is counted, so one thread reads the rows in order; two concurrent chunks use two threads.
 */
const settings = {
  max_threads: 1,
  input_format_parallel_parsing: 0,
  max_memory_usage: 512 * 1024 ** 2,
  max_execution_time: 100,
  // None of these expressions throws, and lazy evaluation takes four times as long.
  short_circuit_function_evaluation: 'disable',
  // Duplicates within a part cost readers nothing, because they merge duplicates of all parts.
  optimize_on_insert: 0,
}

/**
 * Inserts the rows of a chunk: members, or rejected lines. It may be repeated, because the same rows replace
 * each other.
 */
export async function insertChunk(
  clickhouse: ClickHouse,
  lines: LinesOf,
  chunk: Chunk,
): Promise<void> {
  const query = chunk.as === 'lines' ? plainLinesQuery : encodedRowsQuery
  await clickhouse.feed(query(lines, chunk.begin.lines), chunk.bytes, settings)
}
