import type { Tier } from '../../../schemas/fields.ts'
import { ApiError, invalidParameter } from '../../api/http/errors.ts'
import { readFilters } from '../../events/query/filter/filter.ts'
import { isAboutSessions } from '../../events/query/sessions.ts'
import { hemOf, isEmail, isHem } from '../../platform/hem.ts'
import { readRecords } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import type { Match, MatchInput, VisitAlert, VisitAlertChange } from './visitAlertSchemas.ts'

const selectVisitAlerts = `
  SELECT visit_alert_id, visit_alerts.project_id, visit_alerts.name, match, tier, active, member_ids,
    chat_url IS NOT NULL AS has_chat_url, unverified_charges_max, paused_by, last_sent_at, visit_alerts.version,
    visit_alerts.created_at, visit_alerts.updated_at,
    json_build_object('verified', matched.verified, 'unverified', matched.unverified) AS matched_7_days
  FROM visit_alerts JOIN projects USING (project_id) CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE is_verified) AS verified, count(*) FILTER (WHERE NOT is_verified) AS unverified
    FROM visit_alert_matches WHERE visit_alert_matches.visit_alert_id = visit_alerts.visit_alert_id
      AND day > (now() AT TIME ZONE 'UTC')::date - 7) AS matched`

/** Reads the visit alerts of a project, oldest first. */
export const listVisitAlerts = (client: Queryable, projectId: string): Promise<VisitAlert[]> =>
  readRecords<VisitAlert>(
    client,
    `${selectVisitAlerts} WHERE visit_alerts.project_id = $1
     ORDER BY visit_alerts.created_at, visit_alert_id`,
    [projectId],
  )

export async function readVisitAlert(
  client: Queryable,
  organizationId: string,
  visitAlertId: string,
  lock = false,
): Promise<VisitAlert | undefined> {
  const [visitAlert] = await readRecords<VisitAlert>(
    client,
    `${selectVisitAlerts} WHERE organization_id = $1 AND visit_alert_id = $2 ${lock ? 'FOR UPDATE OF visit_alerts' : ''}`,
    [organizationId, visitAlertId],
  )
  return visitAlert
}

/** The member of a match that each kind requires. */
const memberOf = {
  person: 'person',
  company: 'company_domain',
  profile: 'filter',
  audience: 'audience_id',
} as const

/** Kinds whose match reveals a field of the highest tier. */
const fullProfileKinds: readonly Match['kind'][] = ['company', 'audience']

/**
 * Returns the match to store. Throws 400 if members do not suit the kind, or if the tier does not sell the data that
 * the match reveals. Also throws 400 for an audience of another project.
 */
export async function readMatch(
  client: Queryable,
  projectId: string,
  tier: Tier,
  input: MatchInput,
): Promise<Match> {
  const { kind, person, company_domain, filter, audience_id } = input
  for (const member of Object.values(memberOf)) {
    if ((input[member] !== undefined) === (member === memberOf[kind])) continue
    const fault = member === memberOf[kind] ? 'is required' : 'must not be sent'
    throw invalidParameter(`match.${member}`, `${fault} for the kind ${kind}`)
  }
  if (fullProfileKinds.includes(kind) && tier !== 'resolution_full_profile')
    throw invalidParameter('tier', `must be resolution_full_profile for the kind ${kind}`)
  if (kind === 'person') return { kind, hem: readHem(person!) }
  if (kind === 'company') return { kind, company_domain: company_domain!.trim().toLowerCase() }
  if (kind === 'profile') {
    requireGoodFilter(filter!, tier)
    return { kind, filter: filter! }
  }
  const { rowCount } = await client.query(
    'SELECT FROM audiences WHERE audience_id = $1 AND project_id = $2 AND list_id IS NULL',
    [audience_id, projectId],
  )
  if (rowCount === 0)
    throw invalidParameter('match.audience_id', 'must be an audience of the project')
  return { kind, audience_id: audience_id! }
}

/** Returns the match after a change, which is checked again if it or its tier changes. Throws 400 as readMatch does. */
export async function changedMatch(
  client: Queryable,
  { project_id, match, tier }: VisitAlert,
  change: VisitAlertChange,
): Promise<Match> {
  if (!change.match && !change.tier) return match
  const { hem, ...members } = match
  const kept = hem === undefined ? members : { ...members, person: hem }
  return readMatch(client, project_id, change.tier ?? tier, change.match ?? kept)
}

/** Throws 400 for a filter that cannot be read at the tier, and for session fields, which late events change. */
function requireGoodFilter(filter: string, tier: Tier): void {
  try {
    if (!isAboutSessions(readFilters(filter, tier))) return
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    throw invalidParameter('match.filter', error.message.replace(/^filter: /, ''))
  }
  throw invalidParameter('match.filter', 'must not name session fields')
}

function readHem(person: string): string {
  const text = person.trim().toLowerCase()
  if (isHem(text)) return text
  if (isEmail(text)) return hemOf(text)
  throw invalidParameter('match.person', 'must be an email address or 64 hexadecimal digits')
}
