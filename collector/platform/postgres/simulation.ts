import { AsyncLocalStorage } from 'node:async_hooks'
import type pg from 'pg'

/** A dry run: a real request in a transaction that is rolled back. */
class Simulation {
  readonly #connect: () => Promise<pg.PoolClient>
  readonly #undo: (() => Promise<void>)[] = []
  #client: Promise<pg.PoolClient> | null = null
  /** The last statement: parallel ones of a request run one after another, on its one connection. */
  #last: Promise<unknown> = Promise.resolve()
  hasEnded = false

  constructor(connect: () => Promise<pg.PoolClient>) {
    this.#connect = connect
  }

  /** Whether a transaction is open, in which reads must run. */
  get hasBegun(): boolean {
    return this.#client !== null
  }

  /** Runs a statement, in its turn. The transaction begins with the first one, so a slow upload holds no connection. */
  query(...given: unknown[]): Promise<unknown> {
    this.#client ??= this.#connect().then(async (client) => {
      await client.query('BEGIN')
      return client
    })
    const client = this.#client
    const done = this.#last.then(async () => {
      const { query } = await client
      return (query as (...given: unknown[]) => unknown).apply(await client, given)
    })
    this.#last = done.catch(() => {})
    return done
  }

  undoLater(undo: () => Promise<void>): void {
    this.#undo.push(undo)
  }

  async end(): Promise<void> {
    this.hasEnded = true
    const client = await this.#client?.catch(() => null)
    if (client) {
      const failure = await client.query('ROLLBACK').then(
        () => undefined,
        (error: Error) => error,
      )
      // A connection that cannot roll back is discarded.
      client.release(failure)
    }
    for (const undo of this.#undo) await undo()
  }
}

const simulations = new AsyncLocalStorage<Simulation>()

/** The current simulation, or null. Work that outlives its request is outside of it. */
export function currentSimulation(): Simulation | null {
  const simulation = simulations.getStore()
  return simulation === undefined || simulation.hasEnded ? null : simulation
}

/** Whether a simulation is active, so that nothing outside PostgreSQL may be changed or sent. */
export const isSimulated = (): boolean => currentSimulation() !== null

/** Runs `undo` when the current simulation ends; without a simulation it does nothing. */
export const undoSimulated = (undo: () => Promise<void>): void =>
  currentSimulation()?.undoLater(undo)

/** Runs `work`, then rolls back all its writes to PostgreSQL. */
export async function simulate<T>(
  postgres: Pick<pg.Pool, 'connect'>,
  work: () => Promise<T>,
): Promise<T> {
  const simulation = new Simulation(() => postgres.connect())
  try {
    return await simulations.run(simulation, work)
  } finally {
    await simulation.end()
  }
}
