import { type Static, Type } from 'typebox'
import { ownCustomEvents } from '../../../schemas/trackingPlan.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { Id, Timestamp } from '../../api/http/commonSchemas.ts'

const daysLooked = 30
const eventsMax = 100
const propertiesMax = 50

export const UnplannedEvent = Type.Object(
  {
    name: Type.String(),
    events: Type.Integer({ description: `Events of the last ${daysLooked} days, with bots.` }),
    last_event_at: Timestamp,
    example: Type.Object({
      event_id: Id,
      schema: Type.Record(Type.String(), Type.Unknown(), {
        description: 'A JSON Schema that this event matches, without values.',
      }),
    }),
  },
  { title: 'UnplannedEvent' },
)
type UnplannedEvent = Static<typeof UnplannedEvent>

interface Row {
  name: string
  events: number
  last_ms: number
  event_id: string
  properties: string
}

/** Reads the custom events of a project with other names than these, most frequent first. */
export async function listUnplanned(
  queryExecutor: QueryExecutor,
  projectId: string,
  planned: Record<string, unknown>,
): Promise<UnplannedEvent[]> {
  const rows = await queryExecutor.rows<Row>({
    sql: `
      SELECT JSONExtractString(event_data, 'name') AS name, count() AS events, max(ts_millis) AS last_ms,
        argMax(event_id, ts_millis) AS event_id,
        argMax(JSONExtractRaw(event_data, 'properties'), ts_millis) AS properties
      FROM events
      WHERE project_id = {project:UUID} AND source = 'pixel' AND event_type = 'custom'
        AND ts_millis >= {since:UInt64} AND name NOT IN {names:Array(String)}
      GROUP BY name ORDER BY events DESC, name LIMIT ${eventsMax}`,
    params: {
      project: projectId,
      since: Date.now() - daysLooked * 86_400_000,
      names: [...ownCustomEvents, ...Object.keys(planned)],
    },
  })
  return rows.map(({ name, events, last_ms, event_id, properties }) => ({
    name,
    events: Number(events),
    last_event_at: new Date(Number(last_ms)).toISOString(),
    example: { event_id, schema: schemaOf(JSON.parse(properties || '{}')) },
  }))
}

/** Names and types only: values of events are billed. */
function schemaOf(properties: Record<string, unknown>): Record<string, unknown> {
  const firstProperties = Object.entries(properties).slice(0, propertiesMax)
  return {
    type: 'object',
    properties: Object.fromEntries(
      firstProperties.map(([name, value]) => [name, { type: typeOf(value) }]),
    ),
    required: firstProperties.map(([name]) => name),
  }
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value
}
