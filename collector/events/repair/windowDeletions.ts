import { isSessionField, resolved } from '../../../schemas/fields.ts'
import { invalidParameter } from '../../api/http/errors.ts'
import type { ClickHouse, Query } from '../../platform/clickhouse/client.ts'
import { deleteRows } from '../../platform/clickhouse/deleteRows.ts'
import { readErasedUntil } from '../../platform/collectors.ts'
import type { Queue } from '../../platform/jobs/queue.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { bindings } from '../query/bind.ts'
import { type Filter, readFilters } from '../query/filter/filter.ts'
import { selectionConditions } from '../query/filter/filterSql.ts'
import { requestComparison } from '../query/sessions.ts'

/** The queue that deletes events by filter and window. */
export const windowDeletions = 'repair.deletions'

/** The events to delete: those of a project's pixels that match, and that arrived before the request. */
export interface DeletedEvents {
  readonly organizationId: string
  readonly projectId: string
  readonly pixelId: string | null
  readonly startMs: number
  readonly endMs: number
  readonly filter: string | null
  readonly receivedBeforeMs: number
}

/**
 * Reads the filter of a deletion. Throws 400 for fields that depend on other rows than the event: identity and
 * sessions. The count would otherwise reveal them, and they change.
 */
export function readDeletionFilter(filter: string | null): readonly Filter[] {
  const filters = filter === null ? [] : readFilters(filter, 'web_event')
  const refused = filters
    .flatMap(({ field }) => field ?? [])
    .find((field) => field === resolved || isSessionField(field))
  if (!refused) return filters
  throw invalidParameter(
    'filter',
    `must name fields of the event itself ("${refused.name}" depends on other rows)`,
  )
}

export function deletionCondition(deleted: DeletedEvents): Query {
  const { bind, params } = bindings()
  const { organizationId, projectId, pixelId, startMs, endMs, filter, receivedBeforeMs } = deleted
  const conditions = selectionConditions(
    {
      scope: { organizationId, projectId, pixelId, campaignId: null },
      source: 'pixel',
      window: { startMs, endMs },
      filters: readDeletionFilter(filter),
    },
    bind,
  )
  const arrived = `received_at < fromUnixTimestamp64Milli(${bind('Int64', receivedBeforeMs)}, 'UTC')`
  return { sql: [...conditions, arrived].join('\n  AND '), params }
}

export function deletedCountQuery(deleted: DeletedEvents): Query {
  const { sql, params } = deletionCondition(deleted)
  return { sql: `SELECT toFloat64(count()) AS events FROM events WHERE ${sql}`, params }
}

interface WaitingDeletion {
  deletion_id: string
  organization_id: string
  project_id: string
  pixel_id: string | null
  start_ms: number
  end_ms: number
  filter: string | null
  requested_ms: number
}

interface WindowDeletionDeps {
  postgres: Postgres
  /** The events of real visitors. */
  clickhouse: ClickHouse
}

/** The time within which events accepted before a request arrive in ClickHouse. */
const arrivingMs = 10 * 60_000
const againSeconds = 3

/** The background job that deletes the requested events. */
export const windowDeletionQueues = (deps: WindowDeletionDeps): Queue[] => [
  {
    name: windowDeletions,
    schedule: '* * * * *',
    run: async () => ((await deleteWindows(deps)) ? { againInSeconds: againSeconds } : undefined),
  },
]

/**
 * Deletes the events of the unfinished requests, of all organizations in turn. A request finishes when no event is left,
 * it is ten minutes old, and every collector has shipped what it had accepted by then. Returns true if events were left.
 * Figures follow within minutes: the job of hits compares the days again (analytics/hits).
 */
export async function deleteWindows({
  postgres,
  clickhouse,
}: WindowDeletionDeps): Promise<boolean> {
  const { rows } = await postgres.query<WaitingDeletion>(
    `SELECT deletion_id, organization_id, project_id, pixel_id, start_ms::float8 AS start_ms,
       end_ms::float8 AS end_ms, filter, floor(extract(epoch FROM requested_at) * 1000)::float8 AS requested_ms
     FROM event_window_deletions WHERE finished_at IS NULL
     ORDER BY row_number() OVER (PARTITION BY organization_id ORDER BY requested_at), requested_at LIMIT 100`,
  )
  if (rows.length === 0) return false
  const erasedUntil = await readErasedUntil(postgres)
  let isLeft = false
  for (const deletion of rows) {
    const condition = deletionCondition({
      organizationId: deletion.organization_id,
      projectId: deletion.project_id,
      pixelId: deletion.pixel_id,
      startMs: deletion.start_ms,
      endMs: deletion.end_ms,
      filter: deletion.filter,
      receivedBeforeMs: deletion.requested_ms,
    })
    if (await deleteRows(clickhouse, 'events', condition)) {
      isLeft = true
      await requestComparison(postgres)
      continue
    }
    const { requested_ms, deletion_id } = deletion
    if (requested_ms < Date.now() - arrivingMs && requested_ms < erasedUntil)
      await postgres.query(
        'UPDATE event_window_deletions SET finished_at = now() WHERE deletion_id = $1',
        [deletion_id],
      )
  }
  return isLeft
}
