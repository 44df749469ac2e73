import pg from 'pg'
import { runEvery } from '../../platform/runEvery.ts'

/** The exclusive right to insert rows of a log into ClickHouse. */
export interface ShipLease {
  /** Hashes of the ids that others have shipped since our last lease; null if some are unknown. */
  readonly idsOfOthers: Uint32Array | null
  /** Whether an insert of an earlier holder may still run, because that holder did not release its lease. */
  readonly mayOtherInsertsRun: boolean
  readonly acquiredAt: number
  /** False as soon as another shipper may acquire the lease. */
  isHeld(): boolean
  /** Releases the lease when no insert may run any more. Never rejects: then it counts as abandoned. */
  release(): Promise<void>
  /** Ends the lease while an insert may still be running: the next holder waits for that insert. */
  abandon(): void
}

export interface LeaseSource {
  /** Prefix of the names of all batches that other holders may be inserting. */
  readonly batchPrefix: string
  /** Waits for a lease, and publishes these ids (hashes, two words each) to the other shippers. */
  acquire(ids: Uint32Array): Promise<ShipLease>
  close(): void
}

/** The key of the advisory lock: any number that no other lock in our database uses. */
const leasesLock = 7_306_080
/** PostgreSQL ends a session, and with it the lease, after this silence. */
const silenceMsMax = 10_000
const heartbeatMs = 2_000
/** An idle session is closed before PostgreSQL ends it, which PostgreSQL would log as an error. */
const idleMsMax = 5_000
/** Well before PostgreSQL grants the lease to another collector. */
const answerMsMax = 4_000
/** How long the lease is certainly ours after PostgreSQL received our last message. */
const heldMs = 9_000
const lockWaitMsMax = 30_000

/**
 * Acquires the leases of one collector for segments of its spool. A lease is an advisory lock of PostgreSQL on a
 * connection of its own, which the process loses when it dies. PostgreSQL numbers the leases (`ship_leases`).
 * Unlike a lease of platform/postgres/lease.ts it ends with the connection, within seconds. With each lease a
 * collector publishes the ids that it is about to ship to the other collectors.
 */
export class ShipLeases implements LeaseSource {
  /** Empty, because any other collector may be inserting any batch. */
  readonly batchPrefix = ''
  readonly #postgresUrl: string
  readonly #collectorId: string
  #session: pg.Client | null = null
  #closeWhenIdle: NodeJS.Timeout | undefined
  /** The number of our last lease. */
  #seen: number | null = null

  constructor(postgresUrl: string, collectorId: string) {
    this.#postgresUrl = postgresUrl
    this.#collectorId = collectorId
  }

  /** Waits for the lease, and publishes these ids (hashes, two words each) to the other collectors. */
  async acquire(ids: Uint32Array): Promise<ShipLease> {
    clearTimeout(this.#closeWhenIdle)
    const session = this.#session ?? (await this.#open())
    try {
      await session.query({
        text: 'SELECT pg_advisory_lock($1)',
        values: [leasesLock],
        query_timeout: lockWaitMsMax + answerMsMax,
      } as pg.QueryConfig)
      const { rows } = await session.query<{
        lease: number
        left_open: boolean
        hashes: Buffer | null
      }>({
        text: 'SELECT lease::float8 AS lease, left_open, hashes FROM begin_ship_lease($1, $2, $3)',
        values: [
          this.#collectorId,
          this.#seen,
          Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength),
        ],
      })
      const { lease, left_open, hashes } = rows[0]!
      this.#seen = lease
      return this.#leaseOn(session, left_open, hashes && wordsOf(hashes))
    } catch (error) {
      this.#drop(session)
      throw error
    }
  }

  close(): void {
    clearTimeout(this.#closeWhenIdle)
    if (this.#session) this.#drop(this.#session)
  }

  #leaseOn(
    session: pg.Client,
    mayOtherInsertsRun: boolean,
    idsOfOthers: Uint32Array | null,
  ): ShipLease {
    let confirmedAt = Date.now()
    const beat = async () => {
      const sentAt = Date.now()
      await session.query('SELECT 1')
      confirmedAt = sentAt
    }
    const heartbeat = runEvery(heartbeatMs, beat, () => this.#drop(session))
    return {
      idsOfOthers,
      mayOtherInsertsRun,
      acquiredAt: Date.now(),
      isHeld: () => this.#session === session && Date.now() - confirmedAt < heldMs,
      release: async () => {
        await heartbeat.stop()
        await session
          .query('SELECT end_ship_lease($1)', [leasesLock])
          .catch(() => this.#drop(session))
        this.#closeWhenIdle = setTimeout(() => this.#leave(session), idleMsMax)
        this.#closeWhenIdle.unref()
      },
      abandon: () => {
        void heartbeat.stop()
        this.#drop(session)
      },
    }
  }

  async #open(): Promise<pg.Client> {
    const session = new pg.Client({
      connectionString: this.#postgresUrl,
      application_name: 'footfall shipper',
      keepAlive: true,
      connectionTimeoutMillis: answerMsMax,
      query_timeout: answerMsMax,
    })
    session.on('error', () => {})
    session.once('end', () => this.#drop(session))
    await session.connect()
    this.#session = session
    // Only the rows that begin_ship_lease writes must be durable, and it sets that for itself.
    await session.query(
      `SET idle_session_timeout = ${silenceMsMax}; SET lock_timeout = ${lockWaitMsMax}; SET synchronous_commit = off`,
    )
    return session
  }

  /** Closes an idle session in order. */
  #leave(session: pg.Client): void {
    if (this.#session === session) this.#session = null
    session.end().catch(() => {})
  }

  /** Closes a session at once, without waiting for an answer of the server. */
  #drop(session: pg.Client): void {
    if (this.#session === session) this.#session = null
    session.connection.stream.destroy()
  }
}

const wordsOf = (bytes: Buffer): Uint32Array => new Uint32Array(new Uint8Array(bytes).buffer)
