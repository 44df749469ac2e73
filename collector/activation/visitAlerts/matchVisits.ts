import type { OpenQueryExecutor } from '../../api/access/queryExecutor.ts'
import type { Billing } from '../../billing/billing.ts'
import { digestId, refusalOf } from '../../billing/jobCharges.ts'
import { meterOfTier } from '../../billing/meters.ts'
import { erasedHems } from '../../events/query/profiles/suppressedPeople.ts'
import { createCompleteUntil } from '../../events/query/window/completeUntil.ts'
import type { Window } from '../../events/query/window/window.ts'
import { chunked } from '../../platform/clickhouse/chunked.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { WarnLog } from '../../platform/log.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import {
  activeProjectsQuery,
  type MatchedPerson,
  matchQuery,
  peopleMax,
  type Rule,
} from './matchQuery.ts'

export interface MatchDeps {
  postgres: Postgres
  clickhouse: { live: ClickHouse }
  openQueryExecutor: OpenQueryExecutor
  billing: Billing
  /** The address of this service for browsers, without a slash at the end. */
  publicUrl: string
  now(): number
  log: WarnLog
}

interface ActiveRule extends Rule {
  readonly visit_alert_id: string
  readonly version: number
  readonly paused_by: string | null
  /** The positions of visits with verified and with unsigned links. */
  readonly verified_ms: number
  readonly unverified_ms: number
}

const positionOf = ({ verified_ms, unverified_ms }: ActiveRule, isVerified: boolean): number =>
  isVerified ? verified_ms : unverified_ms

/** A link of a cookie is readable up to this time after its event, so each pass reads the end of the last one again. */
const overlapMs = 15_000
/** After an interruption, older visits are not reported, because their messages would come too late. */
const backlogMs = 600_000
/** Most queries of a rule in a pass, for each kind of link, so that no rule delays the others for long. */
const queriesMax = 20
/** Longest time of a pass, so that matches are reported meanwhile. The next pass continues with the other rules. */
const passMsMax = 20_000
/** How long a rule without events may keep its old position, which saves writes. */
const idleMs = 10_000

/**
 * Finds the people whose visits match rules, and stores each once a day for `reportMatches`: first those with verified
 * links, then those with unsigned ones. Ends after `msMax`; the rules that wait longest come first.
 */
export async function matchVisits(
  deps: MatchDeps,
  nowMs: number,
  signal: AbortSignal,
  msMax = passMsMax,
): Promise<void> {
  const { postgres, clickhouse, log } = deps
  const completeUntil = await createCompleteUntil(postgres, () => nowMs)({ mode: 'live' })
  const endMs = Math.min(completeUntil ?? nowMs, nowMs)
  const rules = await readActiveRules(postgres)
  if (rules.length === 0) return
  const windowOf = (rule: ActiveRule, isVerified: boolean): Window => ({
    startMs: Math.max(positionOf(rule, isVerified) - overlapMs, endMs - backlogMs),
    endMs,
  })
  const startMs = Math.min(
    ...rules.flatMap((rule) => [windowOf(rule, true).startMs, windowOf(rule, false).startMs]),
  )
  const activeIds = new Set<string>()
  for (const projects of chunked([...new Set(rules.map(({ project_id }) => project_id))])) {
    const query = activeProjectsQuery(projects, { startMs, endMs })
    for (const { project_id } of await clickhouse.live.rows<{ project_id: string }>(query))
      activeIds.add(project_id)
  }
  const startedAt = performance.now()
  for (const [number, rule] of rules.entries()) {
    signal.throwIfAborted()
    if (number > 0 && performance.now() - startedAt >= msMax) return
    try {
      const pausedBy = await refusalOf(deps.billing, {
        requestId: rule.visit_alert_id,
        organizationId: rule.organization_id,
        projectId: rule.project_id,
        callerId: rule.visit_alert_id,
        meter: meterOfTier[rule.tier],
        records: 1,
      })
      if (pausedBy !== rule.paused_by) await notePause(postgres, rule.visit_alert_id, pausedBy)
      for (const isVerified of [true, false]) {
        // Unsigned visits are free, so a pause does not concern them.
        if (activeIds.has(rule.project_id) && !(isVerified && pausedBy !== null))
          await matchRule(deps, rule, isVerified, windowOf(rule, isVerified), signal)
        else if (endMs - positionOf(rule, isVerified) > idleMs)
          await storeMatches(postgres, rule, isVerified, [], endMs)
      }
    } catch (error) {
      signal.throwIfAborted()
      log.warn(
        { visit_alert_id: rule.visit_alert_id, error: (error as Error).message },
        'a visit alert could not be matched',
      )
      await postgres.query('UPDATE visit_alerts SET tried_at = now() WHERE visit_alert_id = $1', [
        rule.visit_alert_id,
      ])
    }
  }
}

const longestAgo = 'tried_at NULLS FIRST, checked_until, visit_alert_id'

/**
 * Reads the active rules. Organizations take turns, so that many slow rules of one delay only its own. Of each, and of all
 * organizations, the rule that was tried longest ago is first: a slow one is last in the next pass.
 */
export async function readActiveRules(postgres: Postgres): Promise<ActiveRule[]> {
  const { rows } = await postgres.query<ActiveRule>(
    `SELECT visit_alert_id, organization_id, visit_alerts.project_id, match, tier, visit_alerts.version,
       paused_by, floor(extract(epoch FROM checked_until) * 1000)::float8 AS verified_ms,
       floor(extract(epoch FROM unverified_checked_until) * 1000)::float8 AS unverified_ms,
       current_build_id AS build_id, entity
     FROM visit_alerts JOIN projects USING (project_id)
       LEFT JOIN audiences ON audiences.audience_id = (match ->> 'audience_id')::uuid
         AND audiences.project_id = visit_alerts.project_id
     WHERE active
     ORDER BY row_number() OVER (PARTITION BY organization_id ORDER BY ${longestAgo}), ${longestAgo}`,
  )
  return rows
}

async function matchRule(
  { postgres, openQueryExecutor }: MatchDeps,
  rule: ActiveRule,
  isVerified: boolean,
  window: Window,
  signal: AbortSignal,
): Promise<void> {
  const { organization_id: organizationId } = rule
  const reader = openQueryExecutor({ organizationId, mode: 'live' }, { effort: 'page', signal })
  const erased = await erasedHems(postgres, organizationId)
  let last: MatchedPerson | undefined
  // The next pass reads the overlap again, so it alone would never get past more people than one query returns.
  for (let queries = 0; queries < queriesMax; queries++) {
    const query = matchQuery(rule, isVerified, window, erased, last)
    const people = await reader.rows<MatchedPerson>(query)
    last = people.length === peopleMax ? people.at(-1) : undefined
    const checkedMs = last?.received_ms ?? window.endMs
    if (!(await storeMatches(postgres, rule, isVerified, people, checkedMs)) || !last) return
  }
}

/** Stores new matches and the rule's position of their kind. Returns false for a rule that was edited meanwhile: it is matched again. */
async function storeMatches(
  postgres: Postgres,
  { visit_alert_id, project_id, version }: ActiveRule,
  isVerified: boolean,
  people: readonly MatchedPerson[],
  checkedMs: number,
): Promise<boolean> {
  return inTransaction(postgres, async (client) => {
    const position = isVerified ? 'checked_until' : 'unverified_checked_until'
    const { rowCount } = await client.query(
      `UPDATE visit_alerts SET ${position} = greatest(${position}, $3), tried_at = now()
       WHERE visit_alert_id = $1 AND version = $2 AND active`,
      [visit_alert_id, version, new Date(checkedMs)],
    )
    if (rowCount === 0 || people.length === 0) return rowCount !== 0
    const { rows } = await client.query<{ match_id: string; day: string }>(
      `INSERT INTO visit_alert_matches (match_id, visit_alert_id, is_verified, person_key, day, event_id, ts_millis)
       SELECT match_id, $1, $7, person_key, day, event_id, ts_millis
       FROM unnest($2::date[], $3::uuid[], $4::uuid[], $5::uuid[], $6::bigint[])
         AS found (day, match_id, person_key, event_id, ts_millis)
       ON CONFLICT DO NOTHING RETURNING match_id, day::text`,
      [
        visit_alert_id,
        people.map(({ day }) => day),
        people.map(() => uuidV7()),
        people.map(({ hem, day }) => personKey(project_id, hem, day)),
        people.map(({ event_id }) => event_id),
        people.map(({ ts_millis }) => ts_millis),
        isVerified,
      ],
    )
    if (!isVerified && rows.length > 0) await capUnverified(client, visit_alert_id, rows)
    return true
  })
}

/** Most messages of a rule and UTC day about visitors who only say who they are. */
export const claimsMax = 20

/**
 * Decides how new unsigned matches are reported, by their place in the day. The first ones are charged if the rule charges
 * any, the next ones are claims, and the rest are only counted. The transaction holds the lock of the rule.
 */
async function capUnverified(
  client: Queryable,
  visitAlertId: string,
  added: readonly { match_id: string; day: string }[],
): Promise<void> {
  await client.query(
    `UPDATE visit_alert_matches AS match SET is_charged = place <= unverified_charges_max,
       event_id = CASE WHEN place <= unverified_charges_max + $4 THEN event_id END
     FROM visit_alerts, (
       SELECT match_id, row_number() OVER (PARTITION BY day ORDER BY created_at, match_id) AS place
       FROM visit_alert_matches WHERE visit_alert_id = $1 AND NOT is_verified AND day = ANY($2::date[])) AS placed
     WHERE visit_alerts.visit_alert_id = $1 AND match.match_id = placed.match_id
       AND match.match_id = ANY($3::uuid[])`,
    [
      visitAlertId,
      [...new Set(added.map(({ day }) => day))],
      added.map(({ match_id }) => match_id),
      claimsMax,
    ],
  )
}

/** Identifies a person of a project on a day, for the charge and for the uniqueness of messages. */
export const personKey = (projectId: string, hem: string, day: string): string =>
  digestId(`visit ${projectId} ${hem} ${day}`)

/** Stores why a rule is paused, or that it is not. */
export async function notePause(
  postgres: Postgres,
  visitAlertId: string,
  pausedBy: string | null,
): Promise<void> {
  await postgres.query('UPDATE visit_alerts SET paused_by = $2 WHERE visit_alert_id = $1', [
    visitAlertId,
    pausedBy,
  ])
}
