import {
  type Field,
  fieldNamed,
  fieldsAt,
  hemAsNumber,
  numberAsHem,
} from '../../../schemas/fields.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { chargeJob, digestId } from '../../billing/jobCharges.ts'
import { meterOfTier } from '../../billing/meters.ts'
import { bindings } from '../../events/query/bind.ts'
import { readFilters } from '../../events/query/filter/filter.ts'
import type { EventsPlan } from '../../events/query/page/eventsPlan.ts'
import { eventsQuery } from '../../events/query/page/eventsQuery.ts'
import { erasedHems } from '../../events/query/profiles/suppressedPeople.ts'
import { restMs } from '../../events/query/sessionSplit.ts'
import { personOf } from '../../identity/store/personSql.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { type MatchDeps, notePause, personKey } from './matchVisits.ts'
import { type ClaimedMatch, type Row, tellVisit } from './visitMessages.ts'

/** Longer than a report takes: afterwards its process counts as dead, and another one continues. */
const leaseSeconds = 30
const claimedMax = 20

/** Charges and reports waiting matches. Another process repeats a match with the same charge. */
export async function reportMatches(deps: MatchDeps, signal: AbortSignal): Promise<void> {
  for (;;) {
    const claimed = await claimMatches(deps)
    for (const match of claimed) {
      signal.throwIfAborted()
      try {
        await reportMatch(deps, match, signal)
      } catch (error) {
        signal.throwIfAborted()
        deps.log.warn(
          { visit_alert_id: match.visit_alert_id, error: (error as Error).message },
          'a visit could not be reported, and is tried again',
        )
      }
    }
    if (claimed.length < claimedMax) return
  }
}

/** Claims waiting matches, first the oldest one of each organization, and verified ones before others. */
async function claimMatches({ postgres }: MatchDeps): Promise<ClaimedMatch[]> {
  const { rows } = await postgres.query<ClaimedMatch>(
    `UPDATE visit_alert_matches AS match SET leased_until = now() + $1 * interval '1 second'
     FROM visit_alerts JOIN projects USING (project_id)
     WHERE match.visit_alert_id = visit_alerts.visit_alert_id AND match_id IN (
       SELECT match_id FROM visit_alert_matches
       WHERE event_id IS NOT NULL AND coalesce(leased_until, '-infinity') < now() AND match_id IN (
         SELECT match_id FROM (
           SELECT match_id, found.created_at,
             row_number() OVER (PARTITION BY organization_id ORDER BY NOT is_verified, found.created_at) AS place
           FROM visit_alert_matches AS found JOIN visit_alerts USING (visit_alert_id) JOIN projects USING (project_id)
           WHERE event_id IS NOT NULL AND coalesce(leased_until, '-infinity') < now()) AS placed
         ORDER BY place, created_at LIMIT $2)
       FOR UPDATE SKIP LOCKED)
     RETURNING match_id, match.visit_alert_id, is_verified, is_charged, person_key, day::text, event_id,
       ts_millis::float8 AS ts_millis, visit_alerts.match, organization_id, projects.project_id, projects.name AS project_name, visit_alerts.name, tier, member_ids,
       chat_url IS NOT NULL AS has_chat_url`,
    [leaseSeconds, claimedMax],
  )
  return rows
}

async function reportMatch(
  deps: MatchDeps,
  match: ClaimedMatch,
  signal: AbortSignal,
): Promise<void> {
  const { postgres, openQueryExecutor, publicUrl } = deps
  const { organization_id: organizationId, project_id, match_id } = match
  const reader = openQueryExecutor({ organizationId, mode: 'live' }, { effort: 'page', signal })
  const visitor = await readVisitor(reader, match)
  // Opted out, erased or unlinked since the match. Whom the browser belongs to now may not be who is charged.
  const hem = String(visitor?.hem ?? '')
  if (
    !visitor ||
    hem === '' ||
    (await erasedHems(postgres, organizationId)).includes(hem) ||
    personKey(project_id, await mainHemOf(reader, hem), match.day) !== match.person_key
  )
    return forget(deps, match)
  const session = await readSession(reader, match, String(visitor.cookie_id), deps.now())
  const refusal = match.is_charged ? await charge(deps, match) : null
  if (refusal !== null) {
    await notePause(postgres, match.visit_alert_id, refusal)
    return forget(deps, match)
  }
  await inTransaction(postgres, async (client) => {
    const { rowCount } = await client.query(
      'UPDATE visit_alert_matches SET event_id = NULL WHERE match_id = $1 AND event_id IS NOT NULL',
      [match_id],
    )
    if (rowCount === 0) return
    await client.query('UPDATE visit_alerts SET last_sent_at = now() WHERE visit_alert_id = $1', [
      match.visit_alert_id,
    ])
    await tellVisit(client, match, visitor, session, publicUrl)
  })
}

/** Charges the person once a day and tier: free if this rule or another one has reported the person today. */
const charge = (deps: MatchDeps, match: ClaimedMatch) =>
  chargeJob(deps, {
    requestId: digestId(`${match.person_key} ${match.tier}`),
    organizationId: match.organization_id,
    projectId: match.project_id,
    callerId: match.visit_alert_id,
    meter: meterOfTier[match.tier],
    records: 1,
  })

/** Deletes a match that is not reported, so that a later visit of the day can be. */
async function forget({ postgres }: MatchDeps, { match_id }: ClaimedMatch): Promise<void> {
  await postgres.query(
    'DELETE FROM visit_alert_matches WHERE match_id = $1 AND event_id IS NOT NULL',
    [match_id],
  )
}

const planOf = (
  { organization_id, project_id }: ClaimedMatch,
  plan: Pick<EventsPlan, 'window' | 'filters' | 'columns' | 'limit'>,
): EventsPlan => ({
  scope: {
    organizationId: organization_id,
    projectId: project_id,
    pixelId: null,
    campaignId: null,
  },
  source: 'pixel',
  hasAllColumns: false,
  distinct: [],
  offset: 0,
  cursor: null,
  order: 'desc',
  ...plan,
})

/** Reads the row of the event that matched, as the tier route returns it. */
async function readVisitor(reader: QueryExecutor, match: ClaimedMatch): Promise<Row | undefined> {
  const { tier, event_id, ts_millis } = match
  const [row] = await reader.rows<Row>(
    eventsQuery(
      planOf(match, {
        window: { startMs: ts_millis, endMs: ts_millis + 1 },
        filters: readFilters(`event_id:eq:${event_id}`, tier),
        columns: fieldsAt(tier),
        limit: 1,
      }),
    ),
  )
  return row
}

/** Returns the hem by which a person is matched, from any of their hems. */
async function mainHemOf(reader: QueryExecutor, hem: string): Promise<string> {
  const { bind, params } = bindings()
  const person = personOf(hemAsNumber(bind('String', hem)))
  const [hemRow] = await reader.rows<{ hem: string }>({
    sql: `SELECT ${numberAsHem(person)} AS hem`,
    params,
  })
  return hemRow!.hem
}

const sessionColumns: readonly Field[] = [
  'event_type',
  'ts_millis',
  'page_url',
  'event_data',
  'referrer_url',
].map((name) => fieldNamed(name)!)
/** The browser's events that are searched for the begin of the session. */
const sessionEventsMax = 200
const sessionMsMax = 24 * 3_600_000

/** Reads the events of the browser since its last rest, oldest first. */
async function readSession(
  reader: QueryExecutor,
  match: ClaimedMatch,
  cookieId: string,
  nowMs: number,
): Promise<Row[]> {
  const rows = await reader.rows<Row>(
    eventsQuery(
      planOf(match, {
        window: { startMs: match.ts_millis - sessionMsMax, endMs: nowMs + 60_000 },
        filters: readFilters(`cookie_id:eq:${cookieId}`, 'web_event'),
        columns: sessionColumns,
        limit: sessionEventsMax,
      }),
    ),
  )
  const newest = rows.slice(0, sessionEventsMax)
  const rest = newest.findIndex(
    (row, index) =>
      index > 0 && Number(newest[index - 1]!.ts_millis) - Number(row.ts_millis) > restMs,
  )
  return newest.slice(0, rest === -1 ? undefined : rest).reverse()
}
