import pg from 'pg'
import { runEvery } from '../runEvery.ts'
import { isUnavailable } from '../storeErrors.ts'

const reconnectMs = 500
/** A connection that a firewall forgot stays open and says nothing: it is asked this often whether it is there. */
const heartbeatMs = 15_000
/** How long an answer may take before the connection counts as lost. */
const answerMsMax = 5_000
/** Everything is read again every five minutes, which recovers any missed notification. */
const loadMs = 300_000
/** How many announcements `changed` takes at once. */
const changesMax = 250

export interface ListenOptions {
  /** Where PostgreSQL is. */
  url: string
  channel: string
  /**
   * Reads everything: at the start, now and again, and whenever announcements may have been missed. What must not overlap
   * with `changed` it does in a `step`; changes are taken between its steps.
   */
  load(step: Step): Promise<void>
  /**
   * Announcements came, at most 250 at a time, in their order; never during a step of `load`. If it rejects, everything
   * is read again.
   */
  changed(payloads: readonly string[]): Promise<void> | void
  /** At a start while PostgreSQL is away, uses what was kept of an earlier one; false if nothing was. */
  restore?(): boolean
  /** How often the connection is asked whether it is still there, in milliseconds. */
  everyMs?: number
  /** Interval between complete reads, in milliseconds; default five minutes. */
  loadEveryMs?: number
}

/** Does something when what is under way has ended, and before what comes later. */
export type Step = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Keeps what a process has in memory like what PostgreSQL has, by the changes that it announces on a channel. While
 * PostgreSQL is away the last known state serves on, at the start what was kept of it. Rejects when it cannot be read
 * at the start and none was kept.
 */
export async function listenNotify(options: ListenOptions): Promise<{ close(): Promise<void> }> {
  const {
    url,
    channel,
    load,
    changed,
    restore,
    everyMs = heartbeatMs,
    loadEveryMs = loadMs,
  } = options
  let listener: pg.Client
  let closed = false
  let loadedAt = performance.now()
  /** Reads everything, on the connection that is open. */
  let reload: () => Promise<void>

  /** Ends it at our side, for at the other nobody may be left to say goodbye. */
  const cut = () => listener.connection.stream.destroy()

  const listen = async () => {
    let isEnded = false
    let hasBegun = false
    const client = new pg.Client({
      connectionString: url,
      application_name: `footfall ${channel}`,
      keepAlive: true,
      connectionTimeoutMillis: answerMsMax,
      query_timeout: answerMsMax,
    })
    listener = client
    const announced: string[] = []
    const inTurn = createTurns()
    reload = () => load(inTurn)
    const takeAnnounced = async () => {
      try {
        while (announced.length > 0 && !isEnded) await changed(announced.splice(0, changesMax))
      } catch {
        // The connection broke between the announcement and the query: reconnecting reads everything.
        await client.end()
      }
    }
    client.on('error', () => {})
    client.on('end', () => {
      isEnded = true
      // The caller that awaits a failed try starts the next one: two would stay two connections.
      if (hasBegun) void again()
    })
    client.on('notification', ({ payload }) => {
      if (announced.push(payload!) === 1) void inTurn(takeAnnounced)
    })
    try {
      await client.connect()
      await client.query(`LISTEN ${channel}`)
      // Read after LISTEN, so that no change falls in between.
      await reload()
      if (isEnded) throw new Error('Connection closed during the transaction')
      hasBegun = true
    } catch (error) {
      cut()
      throw error
    }
  }

  const again = async () => {
    while (!closed) {
      await new Promise((resolve) => setTimeout(resolve, reconnectMs))
      if (closed) return
      try {
        return await listen()
      } catch {
        // Still away, or too busy to be read from.
      }
    }
  }

  const beat = async () => {
    await listener.query('SELECT 1')
    if (performance.now() - loadedAt < loadEveryMs) return
    loadedAt = performance.now()
    await reload()
  }
  try {
    await listen()
  } catch (error) {
    if (!isUnavailable(error) || !restore?.()) throw error
    void again()
  }
  const heartbeat = runEvery(everyMs, beat, cut)
  return {
    async close() {
      closed = true
      await listener.end()
      await heartbeat.stop()
    },
  }
}

/** Runs steps one after another. One that never ends holds up only the steps of its own connection. */
function createTurns(): Step {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}
