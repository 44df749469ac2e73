import type { NatsSettings } from '../../config.ts'
import { commitRows } from '../../platform/metrics.ts'
import type { SpooledTable } from '../spool/layout.ts'
import type { EventLogs, Spools } from '../spool/spools.ts'
import { type NatsLink, openNatsLink } from './natsLink.ts'
import { NatsLog } from './natsLog.ts'
import { streamOf } from './streams.ts'

/** Opens a worker’s logs in NATS. Its spools keep rows while NATS is unavailable. */
export async function openNatsLogs(
  settings: NatsSettings,
  spools: Spools,
): Promise<{ logs: EventLogs; link: NatsLink; close(): Promise<void> }> {
  const link = await openNatsLink(settings.servers)
  const open = (table: SpooledTable) =>
    new NatsLog({
      link,
      stream: streamOf(table, settings),
      whenAway: settings.whenAway,
      spool: spools[table],
      onCommit: (rows) => table === 'events' && commitRows.observe(rows),
    })
  return {
    link,
    logs: {
      events: open('events'),
      rejected_events: open('rejected_events'),
      identity_links: open('identity_links'),
    },
    close: () => link.close(),
  }
}
