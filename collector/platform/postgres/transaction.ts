import type pg from 'pg'
import type { Postgres } from './pool.ts'

/** What SQL can be sent to: the pool, or one connection with its transaction. */
export type Queryable = Pick<pg.PoolClient, 'query'>

/** A new row refers to a row that is gone: whoever asked came too late. */
export class ParentDeleted extends Error {}

const foreignKeyViolation = '23503'

/**
 * Does `work` in one transaction: all of it is kept, or nothing. Throws ParentDeleted when what a new row belongs to
 * was deleted meanwhile.
 */
export async function inTransaction<T>(
  postgres: Postgres,
  work: (client: Queryable) => Promise<T>,
): Promise<T> {
  const client = await postgres.connect()
  let broken: Error | undefined
  try {
    await client.query('BEGIN')
    const result = await work(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch((failure: Error) => {
      broken = failure
    })
    if ((error as { code?: unknown }).code === foreignKeyViolation) {
      throw new ParentDeleted('What this belongs to has just been deleted.', { cause: error })
    }
    throw error
  } finally {
    // A connection that cannot even roll back is not given to anybody else.
    client.release(broken)
  }
}
