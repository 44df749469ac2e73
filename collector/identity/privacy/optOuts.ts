import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { wakeQueue } from '../../platform/jobs/queue.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { reloadIdentity } from '../store/refresh.ts'
import type { Subject } from './subject.ts'

export interface OptOut {
  opt_out_id: string
  hem: string | null
  cookie_id: string | null
  created_at: string
}

/** Selects an organization's opt-outs ($1) for a page. */
export const selectOptOuts = `SELECT opt_out_id, hem, cookie_id, created_at FROM opt_outs
  WHERE organization_id = $1 AND removed_at IS NULL AND via_hem IS NULL`

const columns = 'opt_out_id, hem, cookie_id, created_at'

export const privacyRequests = 'privacy.requests'

/** The queue of jobs that store data of people; it runs after a person was hidden. */
export const hiddenPeopleChanged = 'privacy.hidden-people'

/** SQL: the time of a row's next change, always later than that of its previous change. */
const nextChange = "greatest(clock_timestamp(), opt_outs.changed_at + interval '1 microsecond')"

/**
 * Opts a subject out of one organization, or of all with null. From then on their events are discarded;
 * within two seconds reads no longer identify them. An existing opt-out stays.
 */
export async function addOptOut(
  client: Queryable,
  organizationId: string | null,
  { hem, cookieId }: Subject,
): Promise<OptOut> {
  const [optOut] = await readRecords<OptOut>(
    client,
    `INSERT INTO opt_outs (organization_id, hem, cookie_id) VALUES ($1, $2, $3)
     ON CONFLICT (organization_id, hem, cookie_id)
       DO UPDATE SET removed_at = NULL, via_hem = NULL,
         changed_at = CASE WHEN opt_outs.removed_at IS NULL THEN opt_outs.changed_at ELSE ${nextChange} END,
         is_known_to_clickhouse = opt_outs.is_known_to_clickhouse AND opt_outs.removed_at IS NULL
     RETURNING ${columns}`,
    [organizationId, hem, cookieId],
  )
  await wakeQueue(client, privacyRequests)
  return optOut!
}

export async function removeOptOut(
  client: Queryable,
  organizationId: string | null,
  { hem, cookieId }: Subject,
): Promise<string | undefined> {
  const { rows } = await client.query<{ opt_out_id: string; via_hem: string | null }>(
    `UPDATE opt_outs SET removed_at = now(), changed_at = ${nextChange}, is_known_to_clickhouse = false
     WHERE organization_id IS NOT DISTINCT FROM $1 AND removed_at IS NULL
       AND (hem = $2 OR via_hem = $2 OR (cookie_id = $3 AND via_hem IS NULL))
     RETURNING opt_out_id, via_hem`,
    [organizationId, hem, cookieId],
  )
  await wakeQueue(client, privacyRequests)
  return rows.find(({ via_hem }) => via_hem === null)?.opt_out_id
}

/** The zero UUID represents null in ClickHouse: all organizations, or no cookie. */
const none = '00000000-0000-0000-0000-000000000000'

/** The owner of the links in the operator's graph. */
export const graph = none

/** Maximum number of changes sent at a time. */
const changesMax = 1_000

interface Change extends OptOut {
  organization_id: string | null
  is_active: boolean
  /** Microseconds since 1970, because a Date has only milliseconds. */
  changed_at: number
}

/**
 * Sends ClickHouse the changes of opt-outs since the last call, applies them to reads, and adds the known
 * browsers of the people. Returns true if there may be more to send. Several calls may run at once: later
 * changes remain unsent, and ClickHouse keeps the newest change.
 */
export async function syncToClickHouse(
  postgres: Postgres,
  clickhouse: ClickHouse,
): Promise<boolean> {
  const { rows: changes } = await postgres.query<Change>(
    `SELECT ${columns}, organization_id, removed_at IS NULL AS is_active,
       (extract(epoch FROM changed_at) * 1000000)::float8 AS changed_at
     FROM opt_outs WHERE NOT is_known_to_clickhouse LIMIT ${changesMax}`,
  )
  if (changes.length === 0) return false
  await clickhouse.command({
    sql: `INSERT INTO opt_outs (organization_id, hem, cookie_id, is_active, changed_at)
          SELECT organization, hem, cookie, active, fromUnixTimestamp64Micro(changed, 'UTC')
          FROM system.one
          ARRAY JOIN {organizations:Array(UUID)} AS organization, {hems:Array(String)} AS hem,
            {cookies:Array(UUID)} AS cookie, {active:Array(Bool)} AS active, {changed:Array(Int64)} AS changed`,
    params: {
      organizations: changes.map(({ organization_id }) => organization_id ?? none),
      hems: changes.map(({ hem }) => hem ?? ''),
      cookies: changes.map(({ cookie_id }) => cookie_id ?? none),
      active: changes.map(({ is_active }) => is_active),
      changed: changes.map(({ changed_at }) => changed_at),
    },
  })
  await reloadIdentity(clickhouse)
  const browsers: BrowsersOf[] = []
  for (const { opt_out_id, organization_id, hem, is_active } of changes)
    if (hem && is_active) {
      const cookieIds = await cookiesOfPerson(
        clickhouse,
        organization_id === null ? null : [organization_id],
        hem,
      )
      browsers.push({ opt_out_id, organization_id, hem, cookieIds })
    }
  await inTransaction(postgres, async (client) => {
    const known = await noteKnown(client, changes)
    for (const each of browsers) if (known.has(each.opt_out_id)) await addBrowsers(client, each)
    await wakeQueue(client, hiddenPeopleChanged)
  })
  return true
}

/** Records that ClickHouse has these changes, for opt-outs that have not changed again. */
async function noteKnown(
  client: Queryable,
  changes: readonly Change[],
): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ opt_out_id: string }>(
    `UPDATE opt_outs SET is_known_to_clickhouse = true
     WHERE (opt_out_id, (extract(epoch FROM changed_at) * 1000000)::bigint) IN
       (SELECT * FROM unnest($1::uuid[], $2::bigint[]))
     RETURNING opt_out_id`,
    [changes.map(({ opt_out_id }) => opt_out_id), changes.map(({ changed_at }) => changed_at)],
  )
  const known = rows.map(({ opt_out_id }) => opt_out_id)
  await client.query('DELETE FROM opt_outs WHERE opt_out_id = ANY($1) AND removed_at IS NOT NULL', [
    known,
  ])
  return new Set(known)
}

interface BrowsersOf {
  readonly opt_out_id: string
  readonly organization_id: string | null
  readonly hem: string
  readonly cookieIds: readonly string[]
}

/**
 * Opts out the browsers of an opted-out person: for one organization, those that its own sites have
 * identified. Otherwise discarded events would reveal the owner of other browsers to the organization.
 */
async function addBrowsers(
  client: Queryable,
  { organization_id, hem, cookieIds }: BrowsersOf,
): Promise<void> {
  await client.query(
    `INSERT INTO opt_outs (organization_id, cookie_id, via_hem)
     SELECT $1, unnest($2::uuid[]), $3 ON CONFLICT (organization_id, hem, cookie_id) DO NOTHING`,
    [organization_id, cookieIds, hem],
  )
}

/**
 * Returns a person's known browsers: by links of these owners (organizations, or `graph`), or with null by
 * any link.
 */
export async function cookiesOfPerson(
  clickhouse: ClickHouse,
  observers: readonly string[] | null,
  hem: string,
): Promise<string[]> {
  const links = await clickhouse.rows<{ cookie_id: string }>({
    sql: `SELECT DISTINCT cookie_id FROM identity_links
          WHERE hem = {hem:String} AND ({ofAny:Bool} OR organization_id IN {observers:Array(UUID)})`,
    params: { hem, ofAny: observers === null, observers: observers ?? [] },
  })
  return links.map(({ cookie_id }) => cookie_id)
}
