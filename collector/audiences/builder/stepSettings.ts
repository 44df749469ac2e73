import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

/** Dependencies of the steps of a build. */
export interface BuildDeps {
  readonly postgres: Postgres
  /** Holds the events of the audience's organization. */
  readonly clickhouse: ClickHouse
}

/**
 * Limits of one statement of a build. Groups and sorts beyond a quarter of the memory use files, and nothing
 * passes through this process.
 */
export const stepSettings = `SETTINGS max_memory_usage = ${1024 ** 3}, max_execution_time = 100,
  max_bytes_before_external_group_by = ${256 * 1024 ** 2}, max_bytes_before_external_sort = ${256 * 1024 ** 2}`
