/** The progress of the job of hits: one row in PostgreSQL. */
import type { Queryable } from '../../platform/postgres/transaction.ts'

/** Times are of arrival (received_at), epoch milliseconds. */
export interface HitsProgress {
  /** Fresh events up to here have hits. */
  readonly appended_ms: number
  /** The end of a run that has begun to append; null between runs. */
  readonly appending_ms: number | null
  /** Late and old events up to here are in the sessions of their visitors. */
  readonly repaired_ms: number
  /** When hits were last compared with events, epoch milliseconds. */
  readonly compared_ms: number
}

export async function readHitsProgress(client: Queryable): Promise<HitsProgress> {
  const { rows } = await client.query<HitsProgress>(
    `SELECT appended_ms::float8, appending_ms::float8, repaired_ms::float8, compared_ms::float8 FROM hits_progress`,
  )
  return rows[0] ?? { appended_ms: 0, appending_ms: null, repaired_ms: 0, compared_ms: 0 }
}

export async function writeHitsProgress(
  client: Queryable,
  { appended_ms, appending_ms, repaired_ms, compared_ms }: HitsProgress,
): Promise<void> {
  await client.query(
    `INSERT INTO hits_progress (appended_ms, appending_ms, repaired_ms, compared_ms) VALUES ($1, $2, $3, $4)
     ON CONFLICT (is_only) DO UPDATE SET appended_ms = excluded.appended_ms, appending_ms = excluded.appending_ms,
       repaired_ms = excluded.repaired_ms, compared_ms = excluded.compared_ms`,
    [appended_ms, appending_ms, repaired_ms, compared_ms],
  )
}
