import type { ClickHouse, Query } from '../../platform/clickhouse/client.ts'
import { deleteRows } from '../../platform/clickhouse/deleteRows.ts'
import { readErasedUntil } from '../../platform/collectors.ts'
import { wakeQueue } from '../../platform/jobs/queue.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import { reloadIdentity } from '../store/refresh.ts'
import { arrivingMs } from './erasures.ts'
import { privacyRequests } from './optOuts.ts'

export interface LinkRemoval {
  removal_id: string
  status: 'pending' | 'complete'
  requested_at: string
  /** Null while earlier observations may still arrive. */
  completed_at: string | null
}

const columns = `removal_id, CASE WHEN finished_at IS NULL THEN 'pending' ELSE 'complete' END AS status, requested_at,
  finished_at AS completed_at`

/** Selects an organization's removals ($1) for a page. */
export const selectLinkRemovals = `SELECT ${columns} FROM link_removals WHERE organization_id = $1`

/**
 * Requests the removal of a link between a browser and a person that the organization's sites or files made. The
 * person, the events and other links remain. Later observations make the link again.
 */
export async function requestLinkRemoval(
  client: Queryable,
  organizationId: string,
  { cookieId, hem }: { cookieId: string; hem: string },
): Promise<LinkRemoval> {
  const [removal] = await readRecords<LinkRemoval>(
    client,
    `INSERT INTO link_removals (removal_id, organization_id, cookie_id, hem) VALUES ($1, $2, $3, $4)
     RETURNING ${columns}`,
    [uuidV7(), organizationId, cookieId, hem],
  )
  await wakeQueue(client, privacyRequests)
  return removal!
}

interface Waiting {
  removal_id: string
  organization_id: string
  cookie_id: string
  hem: string
  requested_ms: number
}

/**
 * Removes the links of all unfinished requests. A request finishes like an erasure, when no earlier observation can
 * arrive; its ids are deleted then. Returns true while links were left.
 */
export async function removeLinks({
  postgres,
  clickhouse,
}: {
  postgres: Postgres
  clickhouse: ClickHouse
}): Promise<boolean> {
  const { rows } = await postgres.query<Waiting>(
    `SELECT removal_id, organization_id, cookie_id, hem,
       floor(extract(epoch FROM requested_at) * 1000)::float8 AS requested_ms
     FROM link_removals WHERE finished_at IS NULL
     ORDER BY row_number() OVER (PARTITION BY organization_id ORDER BY requested_at), requested_at LIMIT 1000`,
  )
  if (rows.length === 0) return false
  const erasedUntil = await readErasedUntil(postgres)
  const isLeft = await deleteRows(
    clickhouse,
    'identity_links',
    linksOf(rows),
    'SETTINGS mutations_sync = 2',
  )
  if (isLeft) {
    await reloadIdentity(clickhouse)
    return true
  }
  await postgres.query(
    `UPDATE link_removals SET finished_at = now(), cookie_id = NULL, hem = NULL
     WHERE removal_id = ANY($1) AND requested_at < $2 AND requested_at < $3`,
    [
      rows.map(({ removal_id }) => removal_id),
      new Date(Date.now() - arrivingMs),
      new Date(Math.min(erasedUntil, Date.now())),
    ],
  )
  return false
}

/** Selects the links that were observed before their removal was requested. */
const linksOf = (removals: readonly Waiting[]): Query => ({
  sql: `arrayExists((organization, cookie, person, millis) -> organization_id = organization AND cookie_id = cookie
    AND toString(hem) = person AND observed_at <= fromUnixTimestamp64Milli(millis, 'UTC'),
    {organizations:Array(UUID)}, {cookies:Array(UUID)}, {hems:Array(String)}, {millis:Array(Int64)})
    AND cookie_id IN {cookies:Array(UUID)}`,
  params: {
    organizations: removals.map(({ organization_id }) => organization_id),
    cookies: removals.map(({ cookie_id }) => cookie_id),
    hems: removals.map(({ hem }) => hem),
    millis: removals.map(({ requested_ms }) => requested_ms),
  },
})
