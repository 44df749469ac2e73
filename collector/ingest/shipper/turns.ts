import pg from 'pg'
import { repeat } from '../../platform/repeat.ts'

/** Any number that nobody else locks on in our database. */
const turnsLock = 7_306_080
/** PostgreSQL ends the session, and so the turn, of a collector that says nothing for so long. */
const silenceMsMax = 10_000
const heartbeatMs = 2_000
/** A session that nobody needs is closed before PostgreSQL does it, which would log that as an error. */
const idleMsMax = 5_000
/** How long an answer may take before the turn counts as lost: well before PostgreSQL gives it to somebody else. */
const answerMsMax = 4_000
/** For so long after PostgreSQL heard of us for sure, the turn is ours, however long our process stood still. */
const heldMs = 9_000
const lockWaitMsMax = 30_000

/** The time in which one collector alone brings events to ClickHouse. */
export interface Turn {
  /**
   * Hashes of the ids that other collectors have shipped since our last turn, two words each; null when not all of
   * them are known.
   */
  readonly learned: Uint32Array | null
  /** Nobody knows whether the turn before has ended: its insert may be under way. */
  readonly isUnsettled: boolean
  readonly begunAt: number
  /** False as soon as PostgreSQL may give the turn to another collector. */
  isHeld(): boolean
  /** All of it is in ClickHouse. Never rejects: a turn that cannot be ended is one that was given up. */
  end(): Promise<void>
  /** Gives it up: something may be on its way to ClickHouse, which the next turn has to wait for. */
  giveUp(): void
}

/**
 * The turns of one collector, on a connection of its own: a lock of PostgreSQL, which its process loses when it dies.
 * Each turn leaves the ids it ships to the others, before it ships them.
 */
export class ShipTurns {
  readonly #postgresUrl: string
  readonly #collectorId: string
  #session: pg.Client | null = null
  #closeWhenIdle: NodeJS.Timeout | undefined
  /** Our last turn. */
  #seen: number | null = null

  constructor(postgresUrl: string, collectorId: string) {
    this.#postgresUrl = postgresUrl
    this.#collectorId = collectorId
  }

  /** Waits for our turn and begins it, telling the others of these ids (hashes, two words each). */
  async begin(ids: Uint32Array): Promise<Turn> {
    clearTimeout(this.#closeWhenIdle)
    const session = this.#session ?? (await this.#open())
    try {
      await session.query({
        text: 'SELECT pg_advisory_lock($1)',
        values: [turnsLock],
        query_timeout: lockWaitMsMax + answerMsMax,
      } as pg.QueryConfig)
      const { rows } = await session.query<{
        turn: number
        left_open: boolean
        hashes: Buffer | null
      }>({
        text: 'SELECT turn::float8 AS turn, left_open, hashes FROM begin_ship_turn($1, $2, $3)',
        values: [
          this.#collectorId,
          this.#seen,
          Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength),
        ],
      })
      const { turn, left_open, hashes } = rows[0]!
      this.#seen = turn
      return this.#turn(session, left_open, hashes && wordsOf(hashes))
    } catch (error) {
      this.#drop(session)
      throw error
    }
  }

  /** Ends the session, whatever it is doing. */
  close(): void {
    clearTimeout(this.#closeWhenIdle)
    if (this.#session) this.#drop(this.#session)
  }

  #turn(session: pg.Client, isUnsettled: boolean, learned: Uint32Array | null): Turn {
    let heardAt = Date.now()
    const beat = async () => {
      const askedAt = Date.now()
      await session.query('SELECT 1')
      heardAt = askedAt
    }
    const heartbeat = repeat(heartbeatMs, beat, () => this.#drop(session))
    return {
      learned,
      isUnsettled,
      begunAt: Date.now(),
      isHeld: () => this.#session === session && Date.now() - heardAt < heldMs,
      end: async () => {
        await heartbeat.stop()
        await session
          .query('SELECT end_ship_turn($1)', [turnsLock])
          .catch(() => this.#drop(session))
        this.#closeWhenIdle = setTimeout(() => this.#leave(session), idleMsMax)
        this.#closeWhenIdle.unref()
      },
      giveUp: () => {
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
    // Only what begin_ship_turn writes must be durable before we go on.
    await session.query(
      `SET idle_session_timeout = ${silenceMsMax}; SET lock_timeout = ${lockWaitMsMax}; SET synchronous_commit = off`,
    )
    return session
  }

  #leave(session: pg.Client): void {
    if (this.#session === session) this.#session = null
    session.end().catch(() => {})
  }

  /** At our side at once: at the other nobody may be left to say goodbye. */
  #drop(session: pg.Client): void {
    if (this.#session === session) this.#session = null
    session.connection.stream.destroy()
  }
}

const wordsOf = (bytes: Buffer): Uint32Array => new Uint32Array(new Uint8Array(bytes).buffer)
