import type pg from 'pg'
import type { Postgres } from './pool.ts'
import { currentSimulation } from './simulation.ts'

/** An object that runs SQL: the pool, or one connection with its transaction. */
export type Queryable = Pick<pg.PoolClient, 'query'>

/** A new row refers to a row that was deleted during the request. */
export class ParentDeleted extends Error {}

const foreignKeyViolation = '23503'

/**
 * Runs `work` in one transaction. Throws ParentDeleted if a new row refers to a row that was deleted
 * meanwhile. Inside a simulation, `work` joins the transaction that is rolled back.
 */
export async function inTransaction<T>(
  postgres: Postgres,
  work: (client: Queryable) => Promise<T>,
): Promise<T> {
  const simulation = currentSimulation()
  if (simulation) {
    const query = simulation.query.bind(simulation) as Queryable['query']
    return inSavepoint({ query }, work)
  }
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
    throw toParentDeleted(error)
  } finally {
    // A connection that cannot roll back is discarded.
    client.release(broken)
  }
}

/** Runs `work` in a savepoint: it checks the constraints of a COMMIT, and an error undoes only this part. */
async function inSavepoint<T>(
  client: Queryable,
  work: (client: Queryable) => Promise<T>,
): Promise<T> {
  await client.query('SAVEPOINT simulated')
  try {
    const result = await work(client)
    await client.query('SET CONSTRAINTS ALL IMMEDIATE')
    await client.query('SET CONSTRAINTS ALL DEFERRED')
    await client.query('RELEASE SAVEPOINT simulated')
    return result
  } catch (error) {
    await client.query('ROLLBACK TO SAVEPOINT simulated')
    throw toParentDeleted(error)
  }
}

const toParentDeleted = (error: unknown): unknown =>
  (error as { code?: unknown }).code === foreignKeyViolation
    ? new ParentDeleted('Another request deleted the parent object.', { cause: error })
    : error
