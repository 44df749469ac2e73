import type { JetStreamManager } from '@nats-io/jetstream'
import type { NatsSettings } from '../../config.ts'
import { type SpooledTable, spooledTables } from '../spool/layout.ts'

export interface LogStream {
  readonly table: SpooledTable
  readonly name: string
  readonly subject: string
}

/** How long NATS recognizes a repeated publish. Later ones are removed by their event ids. */
const duplicateWindowNs = 120 * 1e9

export const streamOf = (
  table: SpooledTable,
  { prefix }: Pick<NatsSettings, 'prefix'>,
): LogStream => ({ table, name: `${prefix}_${table}`, subject: `${prefix}.${table}` })

export const allStreams = (settings: Pick<NatsSettings, 'prefix'>): LogStream[] =>
  spooledTables.map((table) => streamOf(table, settings))

/** Creates the streams that do not exist, and adapts the number of replicas of the others. */
export async function ensureStreams(
  manager: JetStreamManager,
  settings: NatsSettings,
): Promise<void> {
  for (const { name, subject } of allStreams(settings)) {
    const info = await infoOf(manager, name)
    if (info && info.config.num_replicas !== settings.replicas)
      await manager.streams.update(name, { num_replicas: settings.replicas })
    if (info) continue
    await manager.streams.add({
      name,
      subjects: [subject],
      // The owner of the log deletes messages two minutes after ClickHouse has them.
      retention: 'limits',
      storage: 'file',
      discard: 'new',
      num_replicas: settings.replicas,
      duplicate_window: duplicateWindowNs,
      allow_direct: false,
    })
  }
}

const notFound = 404

/** Returns a stream's state; null if it does not exist. */
export async function infoOf(manager: JetStreamManager, name: string) {
  try {
    return await manager.streams.info(name)
  } catch (error) {
    if ((error as { status?: number }).status === notFound) return null
    throw error
  }
}
