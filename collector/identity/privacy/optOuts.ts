import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { wakeQueue } from '../../platform/jobs/queue.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { reloadIdentity } from '../store/refresh.ts'
import type { Subject } from './subject.ts'

export interface OptOut {
  opt_out_id: string
  hem: string | null
  cookie_id: string | null
  created_at: Date
}

/** Selects an organization's list ($1), for a page of it. */
export const selectOptOuts = `SELECT opt_out_id, hem, cookie_id, created_at FROM opt_outs
  WHERE organization_id = $1 AND removed_at IS NULL AND via_hem IS NULL`

const columns = 'opt_out_id, hem, cookie_id, created_at'

/** The queue that carries out opt-outs and erasures. */
export const privacyRequests = 'privacy.requests'

/** The queue of who keeps what was shown of people: somebody is hidden from now on. */
export const hiddenPeopleChanged = 'privacy.hidden-people'

/**
 * Puts a subject on the list, of one organization or with null of all. From then on nothing of theirs is accepted;
 * within two seconds reads no longer say who they are. Somebody who is on it stays.
 */
export async function addOptOut(
  client: Queryable,
  organizationId: string | null,
  { hem, cookieId }: Subject,
): Promise<OptOut> {
  const { rows } = await client.query<OptOut>(
    `INSERT INTO opt_outs (organization_id, hem, cookie_id) VALUES ($1, $2, $3)
     ON CONFLICT (organization_id, hem, cookie_id)
       DO UPDATE SET removed_at = NULL, via_hem = NULL,
         is_known_to_clickhouse = opt_outs.is_known_to_clickhouse AND opt_outs.removed_at IS NULL
     RETURNING ${columns}`,
    [organizationId, hem, cookieId],
  )
  await wakeQueue(client, privacyRequests)
  return rows[0]!
}

/** Takes somebody off the list. The opt_out_id they had; undefined when they were not on it. */
export async function removeOptOut(
  client: Queryable,
  organizationId: string | null,
  { hem, cookieId }: Subject,
): Promise<string | undefined> {
  const { rows } = await client.query<{ opt_out_id: string; via_hem: string | null }>(
    `UPDATE opt_outs SET removed_at = now(), is_known_to_clickhouse = false
     WHERE organization_id IS NOT DISTINCT FROM $1 AND removed_at IS NULL
       AND (hem = $2 OR via_hem = $2 OR (cookie_id = $3 AND via_hem IS NULL))
     RETURNING opt_out_id, via_hem`,
    [organizationId, hem, cookieId],
  )
  await wakeQueue(client, privacyRequests)
  return rows.find(({ via_hem }) => via_hem === null)?.opt_out_id
}

/** The list's zero uuid in ClickHouse, where nothing is null: everywhere, or no cookie. */
const none = '00000000-0000-0000-0000-000000000000'

/** So many changes are told at a time. */
const changesMax = 1_000

type Change = OptOut & { organization_id: string | null; is_active: boolean }

/**
 * Tells ClickHouse what has changed on the list since it was told last, has reads know it, and adds the browsers that
 * are known to be those people's. True when there may be more to tell.
 */
export async function syncToClickHouse(
  postgres: Postgres,
  clickhouse: ClickHouse,
): Promise<boolean> {
  return inTransaction(postgres, async (client) => {
    const { rows: changes } = await client.query<Change>(
      `SELECT ${columns}, organization_id, removed_at IS NULL AS is_active FROM opt_outs
       WHERE NOT is_known_to_clickhouse LIMIT ${changesMax} FOR UPDATE SKIP LOCKED`,
    )
    if (changes.length === 0) return false
    await clickhouse.command({
      sql: `INSERT INTO opt_outs (organization_id, hem, cookie_id, is_active)
            SELECT one.1, one.2, one.3, one.4 FROM (SELECT arrayJoin(arrayZip({organizations:Array(UUID)},
              {hems:Array(String)}, {cookies:Array(UUID)}, {active:Array(Bool)})) AS one)`,
      params: {
        organizations: changes.map(({ organization_id }) => organization_id ?? none),
        hems: changes.map(({ hem }) => hem ?? ''),
        cookies: changes.map(({ cookie_id }) => cookie_id ?? none),
        active: changes.map(({ is_active }) => is_active),
      },
    })
    await reloadIdentity(clickhouse)
    for (const change of changes)
      if (change.hem && change.is_active) await addBrowsers(client, clickhouse, change)
    const ids = changes.map(({ opt_out_id }) => opt_out_id)
    await client.query(
      'DELETE FROM opt_outs WHERE opt_out_id = ANY($1) AND removed_at IS NOT NULL',
      [ids],
    )
    await client.query(
      'UPDATE opt_outs SET is_known_to_clickhouse = true WHERE opt_out_id = ANY($1)',
      [ids],
    )
    await wakeQueue(client, hiddenPeopleChanged)
    return true
  })
}

/** Opts out the browsers of a person who has, as far as the organization may know them. */
async function addBrowsers(
  client: Queryable,
  clickhouse: ClickHouse,
  { organization_id, hem }: Change,
): Promise<void> {
  await client.query(
    `INSERT INTO opt_outs (organization_id, cookie_id, via_hem)
     SELECT $1, unnest($2::uuid[]), $3 ON CONFLICT (organization_id, hem, cookie_id) DO NOTHING`,
    [organization_id, await cookiesOfPerson(clickhouse, organization_id, hem!), hem],
  )
}

/** The browsers known to be a person's: by an organization's own links and the operator's, or with null by any. */
export async function cookiesOfPerson(
  clickhouse: ClickHouse,
  organizationId: string | null,
  hem: string,
): Promise<string[]> {
  const links = await clickhouse.rows<{ cookie_id: string }>({
    sql: `SELECT DISTINCT cookie_id FROM identity_links
          WHERE hem = {hem:String} AND ({organization:Nullable(UUID)} IS NULL
            OR organization_id IN ({organization:Nullable(UUID)}, toUUID('${none}')))`,
    params: { hem, organization: organizationId },
  })
  return links.map(({ cookie_id }) => cookie_id)
}
