import { fieldNamed } from '../../schemas/fields.ts'
import { isUuid } from '../../schemas/uuid.ts'
import type { Scope } from '../api/access/policy.ts'
import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { columnsFrom, selectList } from './query/columns.ts'
import { readFilters } from './query/filter/filter.ts'
import type { EventsPlan } from './query/page/eventsPlan.ts'
import { eventsQuery } from './query/page/eventsQuery.ts'
import { everyTier } from './query/page/parseEventsRequest.ts'
import { nameProjects } from './query/projects.ts'
import { instantMsMax } from './query/window/window.ts'
import { withoutSenderText } from './rejected/withoutSenderText.ts'

/**
 * Fields of a stored event in a trace. It is free, so it has only fields that free counts also reveal
 * (countsPlan.ts): their groups, and `resolved`; nothing of its payload.
 */
const tracedFields = [
  'project_id',
  'pixel_id',
  'source',
  'event_type',
  'timestamp',
  'received_at',
  'cookie_id',
  'is_bot',
  'resolved',
].map((name) => fieldNamed(name)!)

const pixelId = selectList(columnsFrom(null, [{ name: 'pixel_id', sql: 'pixel_id' }]))

interface StoredEvent {
  project_id: string
  pixel_id: string | null
  source: string
  event_type: string
  timestamp: string
  received_at: string
  cookie_id: string
  is_bot: boolean
  resolved: boolean
}

/** Reads the event with this id in each project that has one. */
export async function readStored(
  queryExecutor: QueryExecutor,
  scope: Scope,
  eventId: string,
): Promise<StoredEvent[]> {
  if (!isUuid(eventId)) return []
  const plan: EventsPlan = {
    scope,
    source: null,
    filters: readFilters(`event_id:eq:${eventId}`, everyTier),
    window: { startMs: 0, endMs: instantMsMax },
    columns: tracedFields,
    hasAllColumns: false,
    distinct: [],
    limit: tracedMax,
    offset: 0,
    cursor: null,
    order: 'desc',
  }
  return queryExecutor.rows<StoredEvent>(eventsQuery(await nameProjects(queryExecutor, plan)))
}

/** Most rows of each kind in an answer. */
const tracedMax = 20

interface Rejection {
  received_at: string
  project_id: string
  pixel_id: string
  event_type: string | null
  path: string
  message: string
}

/** Reads each rejection of an event with this id, the latest first; without text of the sender, because a trace is free. */
export async function readRejections(
  queryExecutor: QueryExecutor,
  scope: Scope,
  eventId: string,
): Promise<Rejection[]> {
  const rejections = await queryExecutor.rows<Rejection>(rejectionsQuery(scope, eventId))
  return rejections.map(withoutSenderText)
}

interface Duplicate {
  received_at: string
  project_id: string
  pixel_id: string | null
}

/** Reads each duplicate of the event with this id, the latest first. */
export async function readDuplicates(
  queryExecutor: QueryExecutor,
  scope: Scope,
  eventId: string,
): Promise<Duplicate[]> {
  return isUuid(eventId) ? queryExecutor.rows<Duplicate>(duplicatesQuery(scope, eventId)) : []
}

const inScope = `organization_id = {organization:UUID}
      AND ({project:Nullable(UUID)} IS NULL OR project_id = {project:Nullable(UUID)})
      AND ({pixel:Nullable(UUID)} IS NULL OR pixel_id = {pixel:Nullable(UUID)})`

const scopeParams = ({ organizationId, projectId, pixelId }: Scope) => ({
  organization: organizationId,
  project: projectId,
  pixel: pixelId,
})

const duplicatesQuery = (scope: Scope, eventId: string): Query => ({
  sql: `
    SELECT received_at, project_id, ${pixelId} FROM duplicate_events FINAL
    WHERE ${inScope} AND event_id = {event:UUID}
    ORDER BY received_at DESC LIMIT {rows:UInt32}`,
  params: { ...scopeParams(scope), event: eventId, rows: tracedMax },
})

const rejectionsQuery = (scope: Scope, eventId: string): Query => ({
  sql: `
    SELECT received_at, project_id, pixel_id, event_type, path, message FROM rejected_events
    WHERE ${inScope} AND event_id = {event:String} AND refusal = ''
    ORDER BY received_at DESC LIMIT {rows:UInt32}`,
  params: { ...scopeParams(scope), event: eventId, rows: tracedMax },
})

export async function readOptedOut(
  postgres: Postgres,
  { organizationId }: Scope,
  cookieIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await postgres.query<{ cookie_id: string }>(
    `SELECT DISTINCT cookie_id FROM opt_outs
     WHERE cookie_id = ANY ($2) AND via_hem IS NULL AND removed_at IS NULL
       AND (organization_id IS NULL OR organization_id = $1)`,
    [organizationId, cookieIds],
  )
  return new Set(rows.map(({ cookie_id }) => cookie_id))
}

/** Whether any pixel in the scope drops the events of bots, and whether any of its projects ignores traffic. */
export async function readDropSettings(
  postgres: Postgres,
  { organizationId, projectId, pixelId }: Scope,
): Promise<{ dropsBots: boolean; ignoresTraffic: boolean }> {
  const { rows } = await postgres.query<{
    dropsBots: boolean | null
    ignoresTraffic: boolean | null
  }>(
    `SELECT bool_or((settings ->> 'drop_bots')::boolean) AS "dropsBots",
       bool_or(ignored_networks <> '{}' OR ignored_hosts <> '{}' OR ignored_paths <> '{}') AS "ignoresTraffic"
     FROM pixels JOIN projects USING (project_id)
     WHERE organization_id = $1 AND ($2::uuid IS NULL OR project_id = $2) AND ($3::uuid IS NULL OR pixel_id = $3)`,
    [organizationId, projectId, pixelId],
  )
  const { dropsBots, ignoresTraffic } = rows[0]!
  return { dropsBots: dropsBots === true, ignoresTraffic: ignoresTraffic === true }
}
