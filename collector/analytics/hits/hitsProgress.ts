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
  /** When hits were last compared with events, epoch milliseconds. 0 and `comparing`: they must be compared. */
  readonly compared_ms: number
}

/** `compared_ms` while hits may be incomplete. Another process may set it to 0 meanwhile. */
const comparing = -1

export async function readHitsProgress(client: Queryable): Promise<HitsProgress> {
  const { rows } = await client.query<HitsProgress>(
    `SELECT appended_ms::float8, appending_ms::float8, repaired_ms::float8, compared_ms::float8 FROM hits_progress`,
  )
  return rows[0] ?? { appended_ms: 0, appending_ms: null, repaired_ms: 0, compared_ms: 0 }
}

export async function writeHitsProgress(
  client: Queryable,
  changed: Partial<HitsProgress>,
): Promise<void> {
  const names = Object.keys(changed)
  await client.query(
    'INSERT INTO hits_progress (appended_ms, repaired_ms, compared_ms) VALUES (0, 0, 0) ON CONFLICT DO NOTHING',
  )
  await client.query(
    `UPDATE hits_progress SET ${names.map((name, index) => `${name} = $${index + 1}`).join(', ')}`,
    Object.values(changed),
  )
}

/** Sets `comparing`. Resolves with the `compared_ms` before, which may have become 0 since it was read. */
export async function beginComparing(client: Queryable): Promise<number> {
  const { rows } = await client.query<{ before: number }>(
    `UPDATE hits_progress SET compared_ms = $1
     FROM (SELECT compared_ms AS before FROM hits_progress FOR UPDATE) AS noted
     RETURNING before::float8 AS before`,
    [comparing],
  )
  return rows[0]!.before
}

/** Replaces `comparing`. */
export async function noteCompared(client: Queryable, comparedMs: number): Promise<void> {
  await client.query('UPDATE hits_progress SET compared_ms = $1 WHERE compared_ms = $2', [
    comparedMs,
    comparing,
  ])
}
