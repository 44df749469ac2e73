import pg from 'pg'

const reconnectMs = 500

export interface ListenOptions {
  /** Where PostgreSQL is. */
  url: string
  channel: string
  /** Reads everything: at the start, and whenever announcements may have been missed. */
  load(): Promise<void>
  /** An announcement came. When it rejects, everything is read anew. */
  changed(payload: string): Promise<void> | void
}

/**
 * Keeps what a process has in memory like what PostgreSQL has, by the changes that it announces on a channel. While
 * PostgreSQL is away the last known state serves on. Rejects when it cannot be read at the start.
 */
export async function listenNotify({ url, channel, load, changed }: ListenOptions): Promise<{
  close(): Promise<void>
}> {
  let listener: pg.Client
  let closed = false

  const listen = async () => {
    listener = new pg.Client({ connectionString: url, keepAlive: true })
    listener.on('error', () => {})
    listener.on('end', () => void again())
    listener.on('notification', ({ payload }) => void take(payload!))
    await listener.connect()
    await listener.query(`LISTEN ${channel}`)
    // Read after LISTEN, so that no change falls in between.
    await load()
  }

  const again = async () => {
    while (!closed) {
      await new Promise((resolve) => setTimeout(resolve, reconnectMs))
      if (closed) return
      try {
        return await listen()
      } catch {
        // Still away: `end` of this client is not ours to wait for, try anew.
        listener.removeAllListeners('end')
      }
    }
  }

  const take = async (payload: string) => {
    try {
      await changed(payload)
    } catch {
      // The connection broke between the announcement and the question: reconnecting reads everything.
      await listener.end()
    }
  }

  await listen()
  return {
    async close() {
      closed = true
      await listener.end()
    },
  }
}
