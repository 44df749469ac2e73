import { reloadIdentity } from '../../identity/store/refresh.ts'
import { chunked } from '../../platform/clickhouse/chunked.ts'
import type { ClickHouse, Query } from '../../platform/clickhouse/client.ts'
import { deleteRows } from '../../platform/clickhouse/deleteRows.ts'
import { readErasedUntil } from '../../platform/collectors.ts'
import { wakeQueue } from '../../platform/jobs/queue.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'

/** Owner of the events to delete: an organization, a project or a pixel. */
interface DeletedThing {
  organizationId: string
  projectId?: string
  pixelId?: string
}

export const eventDeletions = 'admin.event-deletions'

/**
 * Requests the deletion of the stored events of an object. Call it before the object is deleted, in the same
 * transaction. For a project it records the pixels, because links of identities are found only by pixel. For an
 * organization it records the projects, because imported days are found only by project.
 */
export async function requestDeletion(
  client: Queryable,
  { organizationId, projectId, pixelId }: DeletedThing,
): Promise<void> {
  await client.query(
    `INSERT INTO event_deletions (deletion_id, organization_id, project_id, pixel_id)
     VALUES (gen_random_uuid(), $1, $2, $3)`,
    [organizationId, projectId, pixelId],
  )
  await wakeQueue(client, eventDeletions)
  if (projectId === undefined)
    await client.query(
      `INSERT INTO event_deletions (deletion_id, organization_id, project_id)
       SELECT gen_random_uuid(), organization_id, project_id FROM projects WHERE organization_id = $1`,
      [organizationId],
    )
  else if (pixelId === undefined)
    await client.query(
      `INSERT INTO event_deletions (deletion_id, organization_id, project_id, pixel_id)
       SELECT gen_random_uuid(), $1, project_id, pixel_id FROM pixels WHERE project_id = $2`,
      [organizationId, projectId],
    )
}

export interface DeletionDeps {
  postgres: Postgres
  /** The events of real visitors. */
  clickhouse: ClickHouse
}

interface Deletion {
  deletion_id: string
  organization_id: string
  project_id: string | null
  pixel_id: string | null
  requested_at: Date
}

/** The time within which events accepted before the deletion arrive in ClickHouse. */
const arrivingMs = 10 * 60_000

/**
 * Runs up to a thousand requested deletions at once, because a mutation of a large table costs the same for one pixel as
 * for many. More of them exceed the list that ClickHouse accepts. A deletion ends when no rows are left and the request is ten minutes
 * old. Every collector must also have shipped the events it had accepted by then. Returns true if rows were left.
 */
export async function deleteRequestedEvents({
  postgres,
  clickhouse,
}: DeletionDeps): Promise<boolean> {
  const deletions = await readUnfinished(postgres)
  if (deletions.length === 0) return false
  const erasedUntil = await readErasedUntil(postgres)
  const left: boolean[] = []
  for (const some of chunked(deletions))
    left.push(
      ...(await Promise.all([
        deleteRows(clickhouse, 'events', eventsOf(some)),
        deleteRows(clickhouse, 'hits', eventsOf(some)),
        deleteRows(clickhouse, 'rejected_events', eventsOf(some)),
        deleteRows(clickhouse, 'duplicate_events', eventsOf(some)),
        deleteRows(clickhouse, 'imported_days', importedDaysOf(some)),
        deleteLinks(clickhouse, linksOf(some)),
      ])),
    )
  if (left.includes(true)) return true
  const finished = deletions.filter(
    ({ requested_at }) => +requested_at < Date.now() - arrivingMs && +requested_at < erasedUntil,
  )
  await postgres.query(
    'UPDATE event_deletions SET finished_at = now() WHERE deletion_id = ANY($1)',
    [finished.map(({ deletion_id }) => deletion_id)],
  )
  return false
}

async function readUnfinished(client: Queryable): Promise<Deletion[]> {
  const { rows } = await client.query<Deletion>(
    `SELECT deletion_id, organization_id, project_id, pixel_id, requested_at
     FROM event_deletions WHERE finished_at IS NULL`,
  )
  return rows
}

/** SQL condition: the accepted, rejected and duplicate events to delete. */
const eventsOf = (deletions: readonly Deletion[]): Query => {
  const { organizations, projects, pixels } = sorted(deletions)
  return anyOf(
    [
      organizations.length > 0 && 'organization_id IN {organizations:Array(UUID)}',
      projects.length > 0 && 'project_id IN {projects:Array(UUID)}',
      // The project is first in the primary key, so the query names it together with the pixel.
      pixels.length > 0 &&
        '(project_id IN {pixel_projects:Array(UUID)} AND pixel_id IN {pixels:Array(UUID)})',
    ],
    {
      organizations: organizations.map(({ organization_id }) => organization_id),
      projects: projects.map(({ project_id }) => project_id!),
      pixel_projects: pixels.map(({ project_id }) => project_id!),
      pixels: pixels.map(({ pixel_id }) => pixel_id!),
    },
  )
}

/** SQL condition: the imported days to delete. Their rows name only a project. */
const importedDaysOf = (deletions: readonly Deletion[]): Query => {
  const { projects } = sorted(deletions)
  return anyOf([projects.length > 0 && 'project_id IN {projects:Array(UUID)}'], {
    projects: projects.map(({ project_id }) => project_id!),
  })
}

/** The rows of identity_links, which know no project. */
const linksOf = (deletions: readonly Deletion[]): Query => {
  const { organizations, pixels } = sorted(deletions)
  return anyOf(
    [
      organizations.length > 0 && 'organization_id IN {organizations:Array(UUID)}',
      pixels.length > 0 &&
        '(organization_id IN {pixel_organizations:Array(UUID)} AND pixel_id IN {pixels:Array(UUID)})',
    ],
    {
      organizations: organizations.map(({ organization_id }) => organization_id),
      pixel_organizations: pixels.map(({ organization_id }) => organization_id),
      pixels: pixels.map(({ pixel_id }) => pixel_id!),
    },
  )
}

const sorted = (deletions: readonly Deletion[]) => ({
  organizations: deletions.filter(({ project_id }) => project_id === null),
  projects: deletions.filter(
    ({ project_id, pixel_id }) => project_id !== null && pixel_id === null,
  ),
  pixels: deletions.filter(({ pixel_id }) => pixel_id !== null),
})

const anyOf = (
  conditions: readonly (string | false)[],
  params: Record<string, string[]>,
): Query => ({
  sql: conditions.filter(Boolean).join(' OR ') || 'false',
  params,
})

/** Deletes links and reloads the identity dictionaries. */
async function deleteLinks(clickhouse: ClickHouse, condition: Query): Promise<boolean> {
  const isLeft = await deleteRows(
    clickhouse,
    'identity_links',
    condition,
    'SETTINGS mutations_sync = 2',
  )
  if (isLeft) await reloadIdentity(clickhouse)
  return isLeft
}
