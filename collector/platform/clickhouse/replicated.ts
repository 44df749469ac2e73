/**
 * A statement that makes a table, for servers that are replicas of each other: its engine is the replicated one of the
 * same name, under a path in Keeper with the folder of the table. A table that replaces another one needs another folder,
 * because both exist for a moment. Tokens of inserts are remembered for longer than any outage; a table
 * that remembers none on one server remembers none here, where ClickHouse would by default, and would leave out rows
 * that are written once more after they were deleted.
 */
export function replicated(statement: string, folderOf: (table: string) => string): string {
  const table = /^CREATE (?:OR REPLACE )?TABLE (?:IF NOT EXISTS )?(\w+)/.exec(statement)?.[1]
  const engine = /\bENGINE = (\w*MergeTree)(?:\(([^)]*)\))?/
  if (!table || !engine.test(statement)) return statement
  const [, tokens = '0'] = /\bnon_replicated_deduplication_window = (\d+)/.exec(statement) ?? []
  const settings = [
    `replicated_deduplication_window = ${tokens}`,
    `replicated_deduplication_window_seconds = ${rememberedSeconds}`,
  ].join(', ')
  const made = statement.replace(engine, (_, name: string, given?: string) => {
    const path = `'/clickhouse/tables/{database}/{shard}/${folderOf(table)}/${table}'`
    return `ENGINE = Replicated${name}(${[path, "'{replica}'", ...(given ? [given] : [])].join(', ')})`
  })
  return /^SETTINGS /m.test(made)
    ? made.replace(/^SETTINGS /m, `SETTINGS ${settings}, `)
    : `${made}\nSETTINGS ${settings}`
}

const rememberedSeconds = 30 * 86_400

/** An engine as a table tells it, for a table of the same rows that one server has by itself. */
export const unreplicated = (engine: string): string =>
  engine.replace(/^Replicated(\w*MergeTree)\('[^']*', '[^']*'(?:, )?/, '$1(')
