import pg from 'pg'
import { isUnavailable } from '../isUnavailable.ts'
import { repeat } from '../jobs/repeat.ts'
import { keepUpToDate } from '../keptCopy.ts'

const reconnectMs = 500
/** A connection that a firewall forgot stays open and says nothing: it is asked this often whether it is there. */
const heartbeatMs = 15_000
/** How long an answer may take before the connection counts as lost. */
const answerMsMax = 5_000
/** Everything is read anew after so many heartbeats: what was missed for whatever reason is missed no longer. */
const heartbeatsPerLoad = 20

export interface ListenOptions {
  /** Where PostgreSQL is. */
  url: string
  channel: string
  /** Reads everything: at the start, and whenever announcements may have been missed. */
  load(): Promise<void>
  /** An announcement came. When it rejects, everything is read anew. */
  changed(payload: string): Promise<void> | void
  /** Where what was read is kept, for a start while PostgreSQL is away. */
  kept?: KeptState
  /** How often the connection is asked whether it is still there, in milliseconds. */
  everyMs?: number
}

export interface KeptState {
  /** Takes what was kept for what PostgreSQL has; false when nothing was. */
  restore(): boolean
  /** Keeps what was read; null where another process of this machine does. */
  save: (() => void) | null
}

/**
 * Keeps what a process has in memory like what PostgreSQL has, by the changes that it announces on a channel. While
 * PostgreSQL is away the last known state serves on, at the start what was kept of it. Rejects when it cannot be read
 * at the start and none was kept.
 */
export async function listenNotify(options: ListenOptions): Promise<{ close(): Promise<void> }> {
  const { url, channel, load, changed, kept, everyMs = heartbeatMs } = options
  let listener: pg.Client
  let closed = false
  let heartbeats = 0
  const keeping = kept?.save ? keepUpToDate(kept.save) : null

  /** Ends it at our side, for at the other nobody may be left to say goodbye. */
  const cut = () => listener.connection.stream.destroy()

  const listen = async () => {
    let isEnded = false
    let hasBegun = false
    listener = new pg.Client({
      ...{ connectionString: url, application_name: `footfall ${channel}`, keepAlive: true },
      ...{ connectionTimeoutMillis: answerMsMax, query_timeout: answerMsMax },
    })
    listener.on('error', () => {})
    listener.on('end', () => {
      isEnded = true
      // Whoever waits for a try that fails begins the next one: two would be two connections ever after.
      if (hasBegun) void again()
    })
    listener.on('notification', ({ payload }) => void take(payload!))
    try {
      await listener.connect()
      await listener.query(`LISTEN ${channel}`)
      // Read after LISTEN, so that no change falls in between.
      await load()
      if (isEnded) throw new Error('Connection terminated while it was begun')
      hasBegun = true
    } catch (error) {
      cut()
      throw error
    }
    keeping?.changed()
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

  const take = async (payload: string) => {
    try {
      await changed(payload)
      keeping?.changed()
    } catch {
      // The connection broke between the announcement and the question: reconnecting reads everything.
      await listener.end()
    }
  }

  const beat = async () => {
    await listener.query('SELECT 1')
    if (++heartbeats % heartbeatsPerLoad === 0) await load()
  }
  try {
    await listen()
  } catch (error) {
    if (!isUnavailable(error) || !kept?.restore()) throw error
    void again()
  }
  const heartbeat = repeat(everyMs, beat, cut)
  return {
    async close() {
      closed = true
      keeping?.stop()
      await listener.end()
      await heartbeat.stop()
    },
  }
}
