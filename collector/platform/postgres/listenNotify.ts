import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { runEvery } from '../runEvery.ts'
import { isUnavailable } from '../storeErrors.ts'

const reconnectMs = 500
/** Interval between heartbeats. Without them, a connection that a firewall dropped would look open. */
const heartbeatMs = 15_000
/** The time limit for a response, after which the connection counts as lost. */
const answerMsMax = 5_000
/** Interval between complete reads, which recover missed notifications. */
const loadMs = 300_000
/** The most announcements for one call of `changed`. */
const changesMax = 250

interface ListenOptions {
  url: string
  channel: string
  /**
   * Reads everything: at the start, at intervals, and whenever announcements may have been missed. Work that
   * must not overlap with `changed` runs in a `step`; changes are applied between steps.
   */
  load(step: Step): Promise<void>
  /** Applies announcements in order, never during a step of `load`. If it rejects, all is read. */
  changed(payloads: readonly string[]): Promise<void> | void
  /** Restores the copy of an earlier run, without PostgreSQL at the start; false if there is none. */
  restore?(): boolean
  /** Interval between heartbeats, in milliseconds; default 15 seconds. */
  everyMs?: number
  /** Interval between complete reads, in milliseconds; default five minutes. */
  loadEveryMs?: number
}

/** Runs `work` after all earlier steps have ended, and before any later one. */
export type Step = <T>(work: () => Promise<T>) => Promise<T>

/**
 * Keeps a process's memory equal to PostgreSQL's data through the changes announced on a channel. While
 * PostgreSQL is unavailable, the last known state stays in use; at the start, the restored copy. Rejects if
 * the first read fails and there is no copy.
 */
export async function listenNotify(options: ListenOptions): Promise<{ close(): Promise<void> }> {
  const { channel, load, changed, restore, everyMs = heartbeatMs, loadEveryMs = loadMs } = options
  let listener: pg.Client
  let closed = false
  let loadedAt = performance.now()
  /** Reads everything on the open connection. */
  let reload: () => Promise<void>

  /** Closes the socket at once, because the server may never answer a normal end. */
  const cut = () => listener.connection.stream.destroy()

  const listen = async () => {
    let isEnded = false
    let hasBegun = false
    const client = newClient(options)
    listener = client
    const announced: string[] = []
    const inTurn = createTurns()
    reload = () => load(inTurn)
    const takeAnnounced = async () => {
      try {
        while (announced.length > 0 && !isEnded) await changed(announced.splice(0, changesMax))
      } catch {
        // The connection broke between the announcement and the query. Reconnecting reads everything.
        await client.end()
      }
    }
    client.on('error', () => {})
    client.on('end', () => {
      isEnded = true
      // If the attempt failed, its caller starts the next one; a second attempt here would leave two
      // connections.
      if (hasBegun) void again()
    })
    client.on('notification', ({ payload }) => {
      if (announced.push(payload!) === 1) void inTurn(takeAnnounced)
    })
    try {
      await client.connect()
      await client.query(`LISTEN ${channel}`)
      // Read after LISTEN, so that no change is missed in between.
      await reload()
      if (isEnded) throw new Error('Connection closed during the transaction')
      hasBegun = true
    } catch (error) {
      cut()
      throw error
    }
  }

  const again = async () => {
    // PostgreSQL may still be unavailable or overloaded.
    do await delay(reconnectMs)
    while (!closed && !(await succeeds(listen())))
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

const succeeds = (work: Promise<void>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )

const newClient = ({ url, channel }: ListenOptions): pg.Client =>
  new pg.Client({
    connectionString: url,
    application_name: `footfall ${channel}`,
    keepAlive: true,
    connectionTimeoutMillis: answerMsMax,
    query_timeout: answerMsMax,
  })

/** Runs steps one after another. A step that never ends blocks only the steps of its own connection. */
function createTurns(): Step {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}
