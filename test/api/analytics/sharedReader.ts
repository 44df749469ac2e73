import type { SharedReader } from '../../../collector/analytics/rollup/rolledDays.ts'
import type { ClickHouse } from '../../../collector/platform/clickhouse/client.ts'

/** Reads counts without the limits of a request. */
export const readerOf = (clickhouse: ClickHouse): SharedReader => ({
  sharedRows: (query) => clickhouse.rows(query),
})
