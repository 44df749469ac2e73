import { randomUUID } from 'node:crypto'
import type { Row } from '../../harness/api.ts'
import { type Headers, openTenants, type Tenants } from '../../harness/tenants.ts'
import { eventOf } from './harness.ts'

export const hourMs = 3_600_000
/** An hour's beginning, so that hours and days do not depend on when a test runs. */
export const end = Math.floor(Date.now() / hourMs) * hourMs
/** The longest window that version 1 takes. */
export const window = { start_ms: String(end - 25 * hourMs), end_ms: String(end) }
export const cookies = [randomUUID(), randomUUID(), randomUUID()]

/**
 * Tenants with events half an hour apart, newest first. Forty belong to the first project, ten each to the
 * second, to a deleted one, and to the foreign organization.
 */
export const openEarlierEvents = async () => storeEarlierEvents(await openTenants())

type Owners = Pick<Tenants, 'organizationId' | 'first' | 'second' | 'foreign'>

/** The same, of these tenants. */
export async function storeEarlierEvents(tenants: Tenants) {
  const deletedProjectId = randomUUID()
  const stored = earlierRows(tenants, deletedProjectId)
  await tenants.insert(stored)
  return { ...tenants, deletedProjectId, ...routesOf(tenants), stored: stored.slice(0, 40) }
}

/** The events, those of the first project before the others. */
export function earlierRows(
  { organizationId, first, second, foreign }: Owners,
  deletedProjectId: string = randomUUID(),
): Row[] {
  const many = (count: number, owner: Row) =>
    Array.from({ length: count }, (_, index) =>
      eventOf(end, 1 + index * 1_800_000, {
        organization_id: organizationId,
        ...owner,
        event_type: index % 4 === 0 ? 'click' : 'page_view',
        cookie_id: cookies[index % 3],
      }),
    )
  return [
    ...many(40, { project_id: first.projectId, pixel_id: first.pixelId }),
    ...many(10, { project_id: second.projectId, pixel_id: second.pixelId }),
    ...many(10, { project_id: deletedProjectId, pixel_id: randomUUID() }),
    ...many(10, {
      organization_id: foreign.organizationId,
      project_id: foreign.projectId,
      pixel_id: foreign.pixelId,
    }),
  ]
}

function routesOf(tenants: Tenants) {
  const inWindow = (path: string, query: Record<string, string>, key?: Headers) =>
    tenants.ask(path, { ...window, ...query }, key)
  return {
    /** The first project as a scope. */
    scope: { project_id: tenants.first.projectId },
    /** Sends a request about the entire window. */
    inWindow,
    /** A page of version 1, which must be answered. */
    async page(query: Record<string, string>, key?: Headers) {
      const { status, body } = await inWindow('/api/v1/events', query, key)
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
      return body as { rows: Row[]; meta: Row }
    },
  }
}
export type EarlierEvents = Awaited<ReturnType<typeof openEarlierEvents>>
