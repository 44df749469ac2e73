import type { Queryable } from '../platform/postgres/transaction.ts'

/** Another job is at the same build or file: it was taken for dead, and is not. */
export class UnderWayElsewhere extends Error {}

/** Keeps others from the work of that id until the transaction ends. Throws UnderWayElsewhere. */
export async function requireAlone(client: Queryable, id: string): Promise<void> {
  const { rows } = await client.query<{ is_ours: boolean }>(
    'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS is_ours',
    [id],
  )
  if (!rows[0]!.is_ours) throw new UnderWayElsewhere(`${id} is under way elsewhere`)
}
