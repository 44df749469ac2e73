import type { ClickHouse } from './client.ts'
import { unreplicated } from './replicated.ts'

/** How the new table differs from the original. */
interface Differences {
  /** Whether the table keeps its rows regardless of their age. */
  readonly isWithoutTtl?: boolean
  /** Settings of the table, in addition to those of the original: `name = value`. */
  readonly settings?: readonly string[]
}

/**
 * Creates the table `name`, if it does not exist, with the columns of `table`. Partitions of each can be attached to the
 * other. It is on this server only, because a replicated copy would use the path in Keeper of the original.
 */
export async function createLike(
  clickhouse: ClickHouse,
  name: string,
  table: string,
  { isWithoutTtl = false, settings = [] }: Differences = {},
): Promise<void> {
  const [like] = await clickhouse.rows<{ engine: string }>({
    sql: 'SELECT engine_full AS engine FROM system.tables WHERE database = currentDatabase() AND name = {table:String}',
    params: { table },
  })
  const engine = unreplicated(like!.engine)
  const [, head, ttl, own] = /^(.*?)( TTL .*)?( SETTINGS .*)$/s.exec(engine)!
  const parts = [head, isWithoutTtl ? '' : ttl, [own, ...settings].join(', ')]
  await clickhouse.command({
    sql: `CREATE TABLE IF NOT EXISTS ${name} AS ${table} ENGINE = ${parts.join('')}`,
  })
}
