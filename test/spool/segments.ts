import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cachedDevice } from '../../collector/ingest/normalize/device.ts'
import { eventRow, sharedMembers } from '../../collector/ingest/normalize/eventRow.ts'
import type { ValidEvent } from '../../collector/ingest/normalize/validateEvent.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { newEventId } from '../harness/eventId.ts'
import { recordOf } from '../harness/record.ts'

const context = {
  organizationId: randomUUID(),
  projectId: randomUUID(),
  pixelId: randomUUID(),
  cookieId: randomUUID(),
  clientIp: '127.0.0.1',
  deviceMembers: cachedDevice('test').members,
  clockCorrectionMs: 0,
}

/** A row of `events`, as ingest hands it to the spool: received now, however long ago this module was read. */
export const row = (
  eventId: string = randomUUID(),
  tsMillis = Date.now(),
  projectId = context.projectId,
  pixelId = context.pixelId,
) =>
  eventRow(
    {
      event_id: eventId,
      event_type: 'custom',
      event_data: { url: '/', timestamp: '' },
      sentMillis: 0,
    } as ValidEvent,
    sharedMembers({ ...context, projectId, pixelId, receivedMillis: Date.now() }),
    tsMillis,
  )

/** A sealed segment of these rows in a directory, as a spool would have left it; its path. */
export function writeSegment(
  directory: string,
  rows: string[],
  spoolId: string,
  firstSeq: number,
): string {
  const path = join(directory, `${spoolId}.${String(firstSeq).padStart(16, '0')}.seg`)
  writeFileSync(path, recordOf(rows, spoolId, firstSeq))
  return path
}

/** New ids of events, in the order in which `storedIds` gives them. */
export const ids = (count: number) => Array.from({ length: count }, () => newEventId()).sort()

/** The ids of all rows of `events`. */
export const storedIds = async (clickhouse: ClickHouse): Promise<string[]> =>
  (
    await clickhouse.rows<{ event_id: string }>({
      sql: 'SELECT event_id FROM events ORDER BY toString(event_id)',
      params: {},
    })
  ).map((event) => event.event_id)
