/** The staging tables of a load that is not complete yet. */

import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { createLike } from '../../platform/clickhouse/createLike.ts'
import type { Target } from './targets.ts'

export interface Stage {
  /** A table like the target's, for inserts. */
  readonly table: string
  /** The table of rejected rows: their place, reason and content. */
  readonly rejected: string
  /** How many rows ClickHouse counts for each inserted row, because it counts rows of views too. */
  readonly countedAs: number
}

const run = (clickhouse: ClickHouse, sql: string, params: Record<string, string> = {}) =>
  clickhouse.command({ sql, params })

const nameOf = (loadId: string): string => `load_${loadId}`

/** Creates the staging tables, or finds those of an interrupted load. */
export async function openStage(
  clickhouse: ClickHouse,
  loadId: string,
  { table, copy }: Target,
): Promise<Stage> {
  const name = nameOf(loadId)
  const rejected = `${name}_rejected`
  await run(
    clickhouse,
    `CREATE TABLE IF NOT EXISTS ${rejected} (row UInt64, reason String, record String) ENGINE = Memory`,
  )
  await createLike(clickhouse, name, table)
  if (!copy) return { table: name, rejected, countedAs: 1 }
  await createLike(clickhouse, `${name}_rows`, copy.table)
  await run(
    clickhouse,
    `CREATE MATERIALIZED VIEW IF NOT EXISTS ${name}_view TO ${name}_rows AS ${copy.select(name)}`,
  )
  return { table: name, rejected, countedAs: 2 }
}

export async function dropStage(clickhouse: ClickHouse, loadId: string): Promise<void> {
  const name = nameOf(loadId)
  await run(clickhouse, `DROP VIEW IF EXISTS ${name}_view`)
  for (const table of [name, `${name}_rows`, `${name}_rejected`])
    await run(clickhouse, `DROP TABLE IF EXISTS ${table}`)
}

/**
 * Makes the load visible to readers. Each table changes atomically, by links to the existing files. It can be
 * repeated after an interruption, because duplicate rows are merged.
 */
export async function publish(
  clickhouse: ClickHouse,
  loadId: string,
  { target, organization, replace }: { target: Target; organization: string; replace: boolean },
): Promise<void> {
  const name = nameOf(loadId)
  const { table, isScoped, copy } = target
  await target.complete?.(clickhouse, name)
  const partition = isScoped ? '{organization:String}' : 'tuple()'
  const copies = [
    ...(copy ? [{ from: `${name}_rows`, to: copy.table }] : []),
    { from: name, to: table },
  ]
  for (const { from, to } of copies) {
    await run(
      clickhouse,
      `ALTER TABLE ${to} ${replace ? 'REPLACE' : 'ATTACH'} PARTITION ${partition} FROM ${from}`,
      isScoped ? { organization } : {},
    )
  }
}
