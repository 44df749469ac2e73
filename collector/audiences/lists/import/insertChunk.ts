import type { ClickHouse } from '../../../platform/clickhouse/client.ts'
import type { Chunk } from '../file/readChunk.ts'
import { encodedRowsQuery, type LinesOf, plainLinesQuery } from './linesQuery.ts'

/** A line's place is counted, so one thread reads them one after the other; two chunks at a time keep two busy. */
const settings = {
  max_threads: 1,
  input_format_parallel_parsing: 0,
  max_memory_usage: 512 * 1024 ** 2,
  max_execution_time: 100,
  // No expression of these throws, and to compute each for those rows alone that need it takes four times as long.
  short_circuit_function_evaluation: 'disable',
  // What stands twice in a part costs readers nothing: they look for it in all parts.
  optimize_on_insert: 0,
}

/** Inserts the rows of a chunk: members, or rejected lines. It may be done twice: the same rows replace each other. */
export async function insertChunk(
  clickhouse: ClickHouse,
  lines: LinesOf,
  chunk: Chunk,
): Promise<void> {
  const query = chunk.as === 'lines' ? plainLinesQuery : encodedRowsQuery
  await clickhouse.feed(query(lines, chunk.begin.lines), chunk.bytes, settings)
}
