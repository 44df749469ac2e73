import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { requireOrganizationAdmin } from '../../api/access/permissions.ts'
import { objectProject } from '../../api/access/projectObjects.ts'
import { Choice, Id, Nullable, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'
import { conflict, invalidParameter } from '../../api/http/errors.ts'
import { rejectUnstorableText } from '../../api/http/rejectUnstorableText.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import { access } from '../../identity/privacy/privacyAccess.ts'
import { wakeQueue } from '../../platform/jobs/queue.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import type { ReadDeps } from '../query/readDeps.ts'
import { instantMsMax } from '../query/window/window.ts'
import {
  type DeletedEvents,
  deletedCountQuery,
  readDeletionFilter,
  windowDeletions,
} from './windowDeletions.ts'

const path = '/api/v1/event-deletions'

const what = {
  project_id: Id,
  start_ms: Type.Integer({ minimum: 0, maximum: instantMsMax, description: 'Start, inclusive.' }),
  end_ms: Type.Integer({ minimum: 1, maximum: instantMsMax, description: 'End, exclusive.' }),
}
const filterText =
  'The filter of the tier `web_event`, without `resolved` and session fields. Absent: all events of the window.'

const DeletionInput = strictObject({
  ...what,
  pixel_id: Type.Optional({ ...Id, description: 'Only events of this pixel.' }),
  filter: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000, description: filterText })),
  dry_run: Type.Optional(
    Type.Boolean({ default: false, description: 'Counts the events, and deletes none.' }),
  ),
  events: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'The count of the dry run. Required without `dry_run`.',
    }),
  ),
})
type DeletionInput = Static<typeof DeletionInput>

const EventDeletion = Type.Object(
  {
    deletion_id: Id,
    ...what,
    pixel_id: Nullable(Id),
    filter: Nullable(Type.String()),
    events: Type.Integer({ description: 'The confirmed number of events.' }),
    status: Choice(['pending', 'complete'], {
      description: '`pending`: events are being deleted, or may still arrive.',
    }),
    requested_at: Timestamp,
    finished_at: Nullable(Timestamp),
  },
  { title: 'EventDeletion' },
)

const Preview = Type.Object(
  { dry_run: Type.Literal(true), events: Type.Integer({ description: 'The events to delete.' }) },
  { title: 'EventDeletionPreview' },
)

/** /api/v1/event-deletions: delete events by filter and window, after a dry run. */
export const windowDeletionRoutes =
  ({ postgres, openQueryExecutor, now }: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.addHook('preValidation', rejectUnstorableText)

    app.get(
      path,
      {
        config: { access },
        schema: {
          tags: ['Privacy'],
          operationId: 'listEventDeletions',
          summary: 'List event deletions',
          description:
            'Requires the owner or admin role in the organization. Returns the deletions of a project, newest first, at most 100.',
          querystring: strictObject({ project_id: Id }),
          response: { 200: Type.Object({ event_deletions: Type.Array(EventDeletion) }) },
        },
      },
      async ({ principal, query }) => {
        requireOrganizationAdmin(principal)
        const projectId = await objectProject(postgres, principal, query.project_id, 'read')
        return {
          event_deletions: await readDeletions(
            postgres,
            'project_id = $1 ORDER BY requested_at DESC LIMIT 100',
            projectId,
          ),
        }
      },
    )

    app.post(
      path,
      {
        config: { access },
        schema: {
          tags: ['Privacy'],
          operationId: 'deleteEvents',
          summary: 'Delete events by filter and window',
          description:
            'Requires the owner or admin role in the organization. With `dry_run`, returns the number of matching events of the pixels. Otherwise deletes them for good, if `events` is still their number. Events that arrived later are kept. Figures and counts follow within seconds. Charges are not refunded. Not billed.',
          body: DeletionInput,
          response: { 200: Preview, 202: Type.Object({ event_deletion: EventDeletion }) },
        },
      },
      async ({ principal, body }, reply) => {
        requireOrganizationAdmin(principal)
        const projectId = await objectProject(postgres, principal, body.project_id, 'write')
        const nowMs = now()
        const { organizationId } = principal
        const deleted = readDeletion(body, { organizationId, projectId }, nowMs)
        const reader = openQueryExecutor(principal, {
          effort: 'scan',
          signal: untilClosed(reply),
          window: deleted,
        })
        const [count] = await reader.rows<{ events: number }>(deletedCountQuery(deleted))
        const { events } = count!
        if (body.dry_run) return { dry_run: true as const, events }
        if (body.events === undefined)
          throw invalidParameter('events', 'is required: send the count of a dry run')
        if (body.events !== events)
          throw conflict(
            'count_changed',
            `The number of events is now ${events} (got ${body.events}). Check it, and send it as events.`,
            { events },
          )
        const id = uuidV7()
        const event_deletion = await inTransaction(postgres, async (client) => {
          const { pixelId, startMs, endMs, filter } = deleted
          await client.query(
            `INSERT INTO event_window_deletions
               (deletion_id, organization_id, project_id, pixel_id, start_ms, end_ms, filter, events, requested_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
            [
              id,
              organizationId,
              projectId,
              pixelId,
              startMs,
              endMs,
              filter,
              events,
              new Date(nowMs),
            ],
          )
          const details = { deletion_id: id, start_ms: startMs, end_ms: endMs, filter, events }
          await audit(
            client,
            principal,
            'events.delete',
            { kind: 'project', id: projectId },
            details,
          )
          await wakeQueue(client, windowDeletions)
          return (await readDeletions(client, 'deletion_id = $1', id))[0]!
        })
        return reply.code(202).send({ event_deletion })
      },
    )
  }

/** Throws 400 for an empty window, and for a filter that a deletion does not take. */
function readDeletion(
  { pixel_id, start_ms, end_ms, filter }: DeletionInput,
  owner: Pick<DeletedEvents, 'organizationId' | 'projectId'>,
  nowMs: number,
): DeletedEvents {
  if (end_ms <= start_ms) throw invalidParameter('end_ms', 'must be greater than start_ms')
  readDeletionFilter(filter ?? null)
  return {
    ...owner,
    pixelId: pixel_id ?? null,
    startMs: start_ms,
    endMs: end_ms,
    filter: filter ?? null,
    receivedBeforeMs: nowMs,
  }
}

async function readDeletions(client: Queryable, condition: string, value: string) {
  return readRecords<Static<typeof EventDeletion>>(
    client,
    `SELECT deletion_id, project_id, pixel_id, start_ms::float8 AS start_ms, end_ms::float8 AS end_ms, filter,
       events::float8 AS events,
       CASE WHEN finished_at IS NULL THEN 'pending' ELSE 'complete' END AS status, requested_at, finished_at FROM event_window_deletions WHERE ${condition}`,
    [value],
  )
}
