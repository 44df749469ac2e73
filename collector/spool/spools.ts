import { join } from 'node:path'
import type { ClickHouse } from '../clickhouse/client.ts'
import { Shipper } from './ship.ts'
import { Spool } from './spool.ts'

const segmentBytesMax = 16 * 1024 * 1024
const sealAfterMs = 500
const shipOnStopMs = 5_000

export interface Spools {
  events: Spool
  rejected: Spool
  links: Spool
  close(): Promise<void>
}

interface Log {
  warn(message: string): void
}

/** One spool and its shipper for each table that ingest writes, below `directory`. */
export function openSpools(directory: string, bytesMax: number, clickhouse: ClickHouse, log: Log): Spools {
  // The dictionary reads new links by itself, but not at once, and in a local server not at all.
  const reloadLinks = () =>
    clickhouse.command({ sql: 'SYSTEM RELOAD DICTIONARY identity_by_cookie', params: {} })

  const open = (name: string, table: string, afterShipping?: () => Promise<void>) => {
    const shipper = new Shipper({
      clickhouse,
      table,
      onShipped: (_rows, bytes) => {
        spool.released(bytes)
        afterShipping?.().catch((error: Error) => log.warn(`after shipping to ${table}: ${error.message}`))
      },
      onError: (error, segment) => log.warn(`shipping ${segment} to ${table}: ${error.message}`),
    })
    const spool: Spool = new Spool({
      directory: join(directory, name),
      segmentBytesMax,
      sealAfterMs,
      bytesMax,
      isBehind: () => shipper.backlog > 0,
      onSealed: (path) => shipper.add(path),
    })
    return { spool, shipper }
  }
  const all = {
    events: open('events', 'events'),
    rejected: open('rejected', 'rejected_events'),
    links: open('links', 'identity_links', reloadLinks),
  }
  return {
    events: all.events.spool,
    rejected: all.rejected.spool,
    links: all.links.spool,
    async close() {
      await Promise.all(
        Object.values(all).map(async ({ spool, shipper }) => {
          await spool.close()
          await shipper.stop(shipOnStopMs)
        }),
      )
    },
  }
}
