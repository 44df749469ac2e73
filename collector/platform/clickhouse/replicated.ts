/**
 * A statement that makes a table, for servers that are replicas of each other: its engine is the replicated one of the
 * same name, under a path in Keeper that only tables of `origin` have. Another table that takes the place of one gets
 * another path, for both are there for a moment. Tokens of inserts are remembered for longer than any outage.
 */
export function replicated(statement: string, origin: string): string {
  const table = /^CREATE (?:OR REPLACE )?TABLE (?:IF NOT EXISTS )?(\w+)/.exec(statement)?.[1]
  if (!table) return statement
  return statement
    .replace(/\bENGINE = (\w*MergeTree)(?:\(([^)]*)\))?/, (_, engine: string, given?: string) => {
      const path = `'/clickhouse/tables/{database}/{shard}/${origin}/${table}'`
      return `ENGINE = Replicated${engine}(${[path, "'{replica}'", ...(given ? [given] : [])].join(', ')})`
    })
    .replace(/\bnon_replicated_deduplication_window = (\d+)/, replicatedWindow)
}

const replicatedWindow = (_: string, tokens: string) =>
  `replicated_deduplication_window = ${tokens}, replicated_deduplication_window_seconds = ${rememberedSeconds}`

const rememberedSeconds = 30 * 86_400
