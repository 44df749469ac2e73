import type { ClickHouse } from '../../platform/clickhouse/client.ts'

/** The progress of a load: its row of identity_loads. */
export interface LoadState {
  readonly load_id: string
  readonly target: string
  /** ISO time; the version of the load's rows. */
  readonly started_at: string
  readonly phase: 'staging' | 'publishing' | 'done'
  /** The current file, and its completed bytes and lines. */
  readonly file: number
  readonly bytes: number
  readonly lines: number
  /** Totals of all files. */
  readonly rows: number
  readonly rejected: number
  readonly rejected_bytes: number
}

/** Loads that may continue: a load that was not resumed for a week is deleted. */
const unfinished =
  "SELECT * EXCEPT updated_at FROM identity_loads FINAL WHERE phase != 'done' AND updated_at > now() - INTERVAL 7 DAY"

export async function readUnfinished(
  clickhouse: ClickHouse,
  loadId: string,
): Promise<LoadState | null> {
  const [state] = await clickhouse.rows<LoadState>({
    sql: `${unfinished} AND load_id = {loadId:String}`,
    params: { loadId },
  })
  return state ?? null
}

export async function saveState(clickhouse: ClickHouse, state: LoadState): Promise<void> {
  const columns = Object.keys(state)
  await clickhouse.command({
    sql: `INSERT INTO identity_loads (${columns.join(', ')}, updated_at)
          SELECT ${columns.map((column) => `{${column}:String}`).join(', ')}, now64(3)`,
    params: { ...state },
  })
}

/** Returns the ids of loads that have tables but can no longer continue. */
export async function readForgotten(clickhouse: ClickHouse): Promise<string[]> {
  const forgotten = await clickhouse.rows<{ id: string }>({
    sql: `SELECT DISTINCT extract(name, '^load_([0-9a-f]+)') AS id FROM system.tables
          WHERE database = currentDatabase() AND id != '' AND id NOT IN (SELECT load_id FROM (${unfinished}))`,
    params: {},
  })
  return forgotten.map(({ id }) => id)
}
