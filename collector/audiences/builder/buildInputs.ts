/**
 * Decides whether a build may reuse the members of the audience's previous build. insertMembers calls these
 * functions in order:
 *
 * 1. readIdentityState reads the state of links, profiles and opt-outs, before all data that depends on it.
 * 2. buildInputsOf returns everything that determines the members, in two parts. `same` is a hash of all of
 * it except today's events. `today` has the runs that counted today's events.
 * 3. readReusableBuild finds the last completed build with an equal `same`. Its members stay members, except
 * people whose counts of today differ between the two `today`. Only these are checked again.
 *
 * completeBuild stores the inputs with the build, for the next one. A build without inputs is made from
 * everything.
 */

import { createHash } from 'node:crypto'
import { hemNumber } from '../../../schemas/fields.ts'
import type { Bind } from '../../events/query/bind.ts'
import { personOf } from '../../identity/store/personSql.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { canonicalJson } from '../../platform/json.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import type { Build } from '../builds.ts'
import type { Parsed } from '../definition/definition.ts'
import type { LeafDay } from './leafDays.ts'
import type { BuildDeps } from './memberStore.ts'

/** Everything that determines the members of a build. Stored as JSON with the build. */
export interface BuildInputs {
  /** A hash that is equal for two builds if nothing but today's events has changed between them. */
  readonly same: string
  /** For each event leaf, the run under which today's events were counted. */
  readonly today: readonly (readonly [leafId: string, runId: string])[]
}

/** An earlier build whose members are reused, except for people to check again. */
export interface ReusableBuild {
  readonly buildId: string
  /** SQL: `changed`, the hem numbers of the people whose events of today have changed since that build. */
  readonly changed: (bind: Bind) => string
}

/**
 * Returns a text that changes whenever data other than events may change people's membership. This data is
 * links, profiles and opt-outs (by the parts of their tables), the addresses of each person, and erasures.
 * Null while dictionaries may differ from their tables. Read it before the data that it describes: then a
 * later change alters the next text.
 */
export async function readIdentityState({
  clickhouse,
  postgres,
}: BuildDeps): Promise<string | null> {
  const [state] = await clickhouse.rows<{ parts: string; is_fresh: boolean }>({
    sql: `WITH
  (SELECT toString(groupBitXor(cityHash64(hem_number, person_number))) FROM person_by_hem) AS people,
  parts AS (SELECT table, name, modification_time FROM system.parts WHERE database = currentDatabase() AND active),
  (SELECT max(modification_time) FROM parts WHERE table IN ('identity_links', 'opt_outs')) AS linked_at
SELECT
  concat(people, ' ', (SELECT toString(groupBitXor(cityHash64(table, name))) FROM parts
   WHERE table IN ('identity_links', 'opt_outs', 'profiles'))) AS parts,
  toBool((SELECT countIf(
      name = 'identity_by_cookie' AND loading_start_time > linked_at
      OR name = 'identity_by_cookie_lately' AND element_count = 0)
    FROM system.dictionaries WHERE database = currentDatabase() AND startsWith(toString(status), 'LOADED')) = 2) AS is_fresh`,
  })
  if (!state!.is_fresh) return null
  const { rows } = await postgres.query<{ erasures: string }>(
    `SELECT concat(count(*) FILTER (WHERE finished_at IS NULL), ' ', max(requested_at)) AS erasures FROM erasures`,
  )
  return `${state!.parts} ${rows[0]!.erasures}`
}

/** The kinds of leaves whose changes are visible in `same`. */
const trackableKinds: ReadonlySet<string> = new Set(['event', 'profile', 'audience'])

/**
 * Returns the inputs of a build of people. Null if the next build cannot reuse it: because of a limit, which
 * one more person may shift, leaves of other kinds, or reloading dictionaries. `same` contains the day, so
 * the first build of each day reads everything.
 */
export function buildInputsOf(
  { organizationId, definition, intentWindowDays }: Build,
  { entity, limit, leaves }: Parsed,
  identity: string | null,
  {
    counted,
    usedBuilds,
    today,
  }: { counted: readonly LeafDay[]; usedBuilds: ReadonlyMap<string, string>; today: number },
): BuildInputs | null {
  if (identity === null || entity !== 'people' || limit !== null) return null
  if (!leaves.every(({ kind }) => trackableKinds.has(kind))) return null
  const earlierRuns = counted
    .filter(({ day }) => day < today)
    .map(({ leaf_id, day, run_id }) => `${leaf_id} ${day} ${run_id}`)
    .sort()
  const used = [...usedBuilds].sort()
  const same = canonicalJson([
    organizationId,
    definition,
    intentWindowDays,
    identity,
    used,
    today,
    earlierRuns,
  ])
  return {
    same: createHash('sha256').update(same).digest('hex'),
    today: counted
      .filter(({ day }) => day === today)
      .map(({ leaf_id, run_id }) => [leaf_id, run_id!]),
  }
}

/**
 * Returns the audience's last build whose inputs differ only in today's events; null without one, or if its
 * members were deleted.
 */
export async function readReusableBuild(
  { postgres, clickhouse }: { postgres: Queryable; clickhouse: ClickHouse },
  { audienceId, organizationId }: Build,
  { same, today }: BuildInputs,
  todayDate: string,
): Promise<ReusableBuild | null> {
  const { rows } = await postgres.query<{ build_id: string; count: number; inputs: BuildInputs }>(
    `SELECT build_id, count::float8 AS count, inputs FROM audience_builds
     WHERE audience_id = $1 AND status = 'completed' AND members_kept AND inputs ->> 'same' = $2
     ORDER BY number DESC LIMIT 1`,
    [audienceId, same],
  )
  const [last] = rows
  if (!last) return null
  const [stored] = await clickhouse.rows<{ count: number }>({
    sql: 'SELECT count() AS count FROM audience_members WHERE build_id = {buildId:UUID}',
    params: { buildId: last.build_id },
  })
  if (stored!.count !== last.count) return null
  const isOfRuns = (runs: BuildInputs['today'], bind: Bind) =>
    `(leaf_id, run_id) IN arrayZip(${bind(
      'Array(UUID)',
      runs.map(([leafId]) => leafId),
    )}, ${bind(
      'Array(UUID)',
      runs.map(([, runId]) => runId),
    )})`
  return {
    buildId: last.build_id,
    changed: (bind) => {
      const [then, now] = [isOfRuns(last.inputs.today, bind), isOfRuns(today, bind)]
      return `SELECT DISTINCT ${personOf(hemNumber)} AS changed FROM (
SELECT ${bind('UUID', organizationId)} AS organization_id, cookie_id FROM audience_leaf_days
WHERE day = toDate(${bind('String', todayDate)}) AND (${then} OR ${now})
GROUP BY leaf_id, cookie_id
HAVING sumIf(events, ${then}) != sumIf(events, ${now})
)
WHERE changed != 0`
    },
  }
}
