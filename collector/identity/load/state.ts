import type { ClickHouse } from '../../clickhouse/client.ts'

/** How far a load has come: its row of identity_loads. */
export interface LoadState {
  readonly load_id: string
  readonly target: string
  /** ISO time; the version of the load's rows. */
  readonly started_at: string
  readonly phase: 'staging' | 'publishing' | 'done'
  /** The file that is read, and how much of it is done. */
  readonly file: number
  readonly bytes: number
  readonly lines: number
  /** Of all files. */
  readonly rows: number
  readonly rejected: number
  readonly rejected_bytes: number
}

/** The load of that id that was broken off, or null. */
export async function readUnfinished(clickhouse: ClickHouse, loadId: string): Promise<LoadState | null> {
  const [state] = await clickhouse.rows<LoadState>({
    sql: `SELECT * EXCEPT updated_at FROM identity_loads FINAL WHERE load_id = {loadId:String} AND phase != 'done'`,
    params: { loadId },
  })
  return state ?? null
}

/** Notes how far the load has come. */
export async function saveState(clickhouse: ClickHouse, state: LoadState): Promise<void> {
  const columns = Object.keys(state)
  await clickhouse.command({
    sql: `INSERT INTO identity_loads (${columns.join(', ')}, updated_at)
          SELECT ${columns.map((column) => `{${column}:String}`).join(', ')}, now64(3)`,
    params: { ...state },
  })
}

const forgottenAfterDays = 7

/** The ids of loads that were broken off and that nobody has taken up again for a week. */
export const readForgotten = async (clickhouse: ClickHouse): Promise<LoadState[]> =>
  clickhouse.rows<LoadState>({
    sql: `SELECT * EXCEPT updated_at FROM identity_loads FINAL
          WHERE phase != 'done' AND updated_at < now() - INTERVAL {days:UInt8} DAY`,
    params: { days: forgottenAfterDays },
  })
