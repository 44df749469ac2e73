import { crc32 } from 'node:zlib'
import type { JetStreamManager } from '@nats-io/jetstream'
import type { NatsSettings } from '../../config.ts'
import { type SpooledTable, spooledTables } from '../spool/layout.ts'

/** The stream of one partition of a table. */
export interface LogStream {
  readonly table: SpooledTable
  readonly partition: number
  readonly name: string
  readonly subject: string
}

/**
 * How long NATS recognizes a repeated publish. ClickHouse’s ids recognize later ones (shipper/deduplicator.ts).
 */
const duplicateWindowNs = 120 * 1e9

/** Returns how many partitions a table has. Only events are many enough for several. */
export const partitionCount = (table: SpooledTable, { partitions }: NatsSettings): number =>
  table === 'events' ? partitions : 1

export const streamsOf = (table: SpooledTable, settings: NatsSettings): LogStream[] =>
  Array.from({ length: partitionCount(table, settings) }, (_, partition) => ({
    table,
    partition,
    name: `${settings.prefix}_${table}_${partition}`,
    subject: `${settings.prefix}.${table}.${partition}`,
  }))

export const allStreams = (settings: NatsSettings): LogStream[] =>
  spooledTables.flatMap((table) => streamsOf(table, settings))

const idAt = '{"event_id":"'.length
const idLength = 36
const projectMember = '"project_id":"'

/** Returns the partition of a row of events: the same for all events with its project and id. */
export function partitionOf(row: string, partitions: number): number {
  if (partitions === 1) return 0
  const projectAt = row.indexOf(projectMember) + projectMember.length
  const key = row.slice(projectAt, projectAt + idLength) + row.slice(idAt, idAt + idLength)
  return crc32(key) % partitions
}

/** The SQL condition for the events of a partition: the same hash as `partitionOf`. */
export const partitionCondition = {
  sql: `CRC32(concat(toString(project_id), toString(event_id))) % {partitions:UInt32} = {partition:UInt32}`,
  paramsOf: (partition: number, partitions: number) => ({ partition, partitions }),
}

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
      // Each stream has one subject, and messages wait until a shipper has committed them.
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
    if ((error as { status?: number; code?: number }).status === notFound) return null
    throw error
  }
}
