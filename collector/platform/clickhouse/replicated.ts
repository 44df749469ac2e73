import type { ClickHouse } from './client.ts'
import type { OwnSettings } from './openClickHouse.ts'

/**
 * This file has all statements and settings that replicas need. The tests do not run them: ClickHouse from npm has no port
 * for replicas.
 */

/** ClickHouse confirms a row when most replicas have stored it. */
export const replicatedSettings: OwnSettings = { insert_quorum: 'auto' }

/** For one insert at a time: reads see every earlier insert on any replica. */
export const sequentialSettings: OwnSettings = {
  insert_quorum_parallel: 0,
  select_sequential_consistency: 1,
}

/** Waits until this replica has every row of a table that the others have. */
export const syncReplica = (clickhouse: ClickHouse, table: string): Promise<void> =>
  clickhouse.command({ sql: `SYSTEM SYNC REPLICA ${table}` })

/**
 * Converts a CREATE TABLE statement to the replicated engine, with a path in Keeper that contains the
 * folder. A table that replaces another one needs another folder, because both exist for a moment. Insert
 * tokens are kept for longer than any outage. A table without tokens on one server also has none here. By
 * default, ClickHouse would keep them, and would skip rows that are written again after their deletion.
 */
export function replicated(statement: string, folder: string): string {
  const table = /^CREATE (?:OR REPLACE )?TABLE (?:IF NOT EXISTS )?(\w+)/.exec(statement)?.[1]
  const engine = /\bENGINE = (\w*MergeTree)(?:\(([^)]*)\))?/
  if (!table || !engine.test(statement)) return statement
  const [, tokens = '0'] = /\bnon_replicated_deduplication_window = (\d+)/.exec(statement) ?? []
  const settings = [
    `replicated_deduplication_window = ${tokens}`,
    `replicated_deduplication_window_seconds = ${rememberedSeconds}`,
  ].join(', ')
  const made = statement.replace(engine, (_, name: string, given?: string) => {
    const path = `'/clickhouse/tables/{database}/{shard}/${folder}/${table}'`
    return `ENGINE = Replicated${name}(${[path, "'{replica}'", ...(given ? [given] : [])].join(', ')})`
  })
  return /^SETTINGS /m.test(made)
    ? made.replace(/^SETTINGS /m, `SETTINGS ${settings}, `)
    : `${made}\nSETTINGS ${settings}`
}

const rememberedSeconds = 30 * 86_400

/** Returns the engine without replication for the engine that a table reports. */
export const unreplicated = (engine: string): string =>
  engine.replace(/^Replicated(\w*MergeTree)\('[^']*', '[^']*'(?:, )?/, '$1(')
