import {
  hemAsNumber,
  hemNumber,
  isVouched,
  numberAsHem,
  type Tier,
} from '../../../schemas/fields.ts'
import { type Bind, bindings } from '../../events/query/bind.ts'
import { readFilters } from '../../events/query/filter/filter.ts'
import { selectionConditions } from '../../events/query/filter/filterSql.ts'
import { isSuppressed, suppressedPeople } from '../../events/query/profiles/suppressedPeople.ts'
import type { Window } from '../../events/query/window/window.ts'
import { personOf } from '../../identity/store/personSql.ts'
import { profileMeets } from '../../identity/store/profileSql.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import type { Match } from './visitAlertSchemas.ts'

/** The rule to match, with the served build of its audience. */
export interface Rule {
  readonly organization_id: string
  readonly project_id: string
  readonly match: Match
  readonly tier: Tier
  readonly build_id: string | null
  readonly entity: 'people' | 'companies' | null
}

/** The first event of a person on a day in the window. */
export interface MatchedPerson {
  readonly hem: string
  /** The UTC day of its receipt, which no later read of the event changes. */
  readonly day: string
  readonly event_id: string
  readonly ts_millis: number
  readonly received_ms: number
}

/** Most people of one query. The next query continues after them. */
export const peopleMax = 500

/** Events that happened longer before their arrival are history and no visit, such as imported events. */
const latenessMs = 3_600_000

/**
 * The people of a rule whose events arrived in the window, first come first, after `last`. They are those with verified
 * links, or those whom only an unsigned identify call names. `erased` are the hems of people who are being erased.
 */
export function matchQuery(
  rule: Rule,
  isVerified: boolean,
  window: Window,
  erased: readonly string[],
  last?: MatchedPerson,
): Query {
  const { organization_id, project_id } = rule
  const { bind, params } = bindings()
  const hidden = suppressedPeople(organization_id, erased, bind)
  const { match, tier } = rule
  const conditions = selectionConditions(
    {
      scope: {
        organizationId: organization_id,
        projectId: project_id,
        pixelId: null,
        campaignId: null,
      },
      source: 'pixel',
      window,
      filters: match.kind === 'profile' ? readFilters(match.filter!, tier) : [],
      bots: 'excluded',
      order: 'received',
    },
    bind,
  )
  const rest = last
    ? `HAVING (received_ms, hem) > (${bind('Float64', last.received_ms)}, ${bind('String', last.hem)})`
    : ''
  const sql = `SELECT ${numberAsHem('person')} AS hem, toString(_day) AS day,
  toString(argMin(_event, (_received, _event))) AS event_id,
  toFloat64(argMin(_millis, (_received, _event))) AS ts_millis,
  toFloat64(toUnixTimestamp64Milli(min(_received))) AS received_ms
FROM (
  SELECT ${personOf(hemNumber)} AS person, event_id AS _event, ts_millis AS _millis,
    received_at AS _received, toDate(received_at, 'UTC') AS _day FROM events
  WHERE ${[
    ...conditions,
    `ts_millis >= ${bind('Int64', window.startMs - latenessMs)}`,
    `${hemNumber} != 0`,
    isVerified ? isVouched : `NOT (${isVouched})`,
    `NOT (${isSuppressed(hemNumber, hidden)})`,
    ...personConditions(rule, bind),
  ].join('\n    AND ')}
)
GROUP BY person, _day
${rest}
ORDER BY received_ms, hem
LIMIT ${bind('UInt32', peopleMax)}`
  return { sql, params }
}

/** Conditions of the kinds that are no filter. */
function personConditions({ match, build_id, entity }: Rule, bind: Bind): readonly string[] {
  switch (match.kind) {
    case 'person':
      return [`${personOf(hemNumber)} = ${personOf(hemAsNumber(bind('String', match.hem!)))}`]
    case 'company':
      return [profileMeets([`lower(company_domain) = ${bind('String', match.company_domain!)}`])]
    case 'profile':
      return []
    case 'audience': {
      if (build_id === null) return ['false']
      const build = bind('UUID', build_id)
      return entity === 'people'
        ? [
            `${personOf(hemNumber)} IN (
      SELECT ${personOf('hem_number')} FROM audience_members WHERE build_id = ${build})`,
          ]
        : [
            profileMeets([
              `company_domain IN (SELECT company_domain FROM audience_members WHERE build_id = ${build})`,
            ]),
          ]
    }
  }
}

/** The projects among `projects`, at most those of one bound array, that received events in the window. */
export const activeProjectsQuery = (projects: readonly string[], window: Window): Query => ({
  sql: `SELECT DISTINCT project_id FROM events
WHERE project_id IN {projects:Array(UUID)} AND ts_millis >= {from:Int64} - ${latenessMs}
  AND received_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC')
  AND received_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`,
  params: { projects, from: window.startMs, to: window.endMs },
})
