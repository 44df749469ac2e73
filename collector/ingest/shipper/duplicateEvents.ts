import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'

/** The stored facts about a duplicate event: nothing of its content or its visitor. */
type Duplicate = Record<
  'organization_id' | 'project_id' | 'pixel_id' | 'event_id' | 'received_at' | 'spool_id',
  string
> & { seq: number }

/** Records lines of a batch that were omitted because their events are stored already. */
export async function recordDuplicates(
  clickhouse: Pick<ClickHouse, 'insertLines'>,
  lines: readonly Buffer[],
): Promise<void> {
  const rows = lines.map((line) => {
    const { organization_id, project_id, pixel_id, event_id, received_at, spool_id, seq } =
      JSON.parse(line.toString()) as Duplicate
    const row: Duplicate = {
      organization_id,
      project_id,
      pixel_id,
      event_id,
      received_at,
      spool_id,
      seq,
    }
    return `${JSON.stringify(row)}\n`
  })
  const content = Readable.from([rows.join('')], { objectMode: false })
  await clickhouse.insertLines('duplicate_events', content, randomUUID())
}
