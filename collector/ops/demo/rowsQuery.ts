import { fieldsAt } from '../../../schemas/fields.ts'
import type { Query } from '../../platform/clickhouse/client.ts'

export interface DemoPixel {
  organizationId: string
  projectId: string
  pixelId: string
}

/** The query for the events `ids` of the demo's pixel in a window: API rows, newest first. */
export const demoRowsQuery = (
  pixel: DemoPixel,
  window: { startMs: number; endMs: number },
  ids: readonly string[],
): Query => ({
  sql: `SELECT ${fieldsAt('web_event')
    .map(({ name }) => name)
    .join(', ')}
FROM events
WHERE organization_id = {organizationId:UUID} AND project_id = {projectId:UUID} AND pixel_id = {pixelId:UUID}
  AND source = 'pixel' AND ts_millis >= {startMs:Int64} AND ts_millis < {endMs:Int64}
  AND event_id IN {ids:Array(UUID)}
ORDER BY ts_millis DESC, event_id DESC`,
  params: { ...pixel, ...window, ids },
})
