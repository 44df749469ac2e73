import type { ClickHouse } from '../../../collector/platform/clickhouse/client.ts'

const keys = 'toInt64(rowNumberInAllBlocks() + 1)'

/** The same ClickHouse, which takes so many seconds to insert the members of a build. */
export const slowed = (clickhouse: ClickHouse, seconds: number): ClickHouse => ({
  ...clickhouse,
  async command(query) {
    if (!query.sql.startsWith('INSERT INTO audience_members')) return clickhouse.command(query)
    if (!query.sql.includes(keys)) throw new Error('this statement cannot be slowed')
    const sql = query.sql.replace(keys, `${keys} + sleep(${seconds})`)
    return clickhouse.command({
      ...query,
      sql: `${sql}, function_sleep_max_microseconds_per_block = ${seconds * 1_000_000}`,
    })
  },
})
