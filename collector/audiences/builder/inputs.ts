import { createHash } from 'node:crypto'
import { hemNumber } from '../../../schemas/fields.ts'
import type { Bind } from '../../events/query/bind.ts'
import { personOf } from '../../identity/store/personSql.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import type { Build } from '../builds.ts'
import { canonicalJson } from '../definition/canonical.ts'
import type { Parsed } from '../definition/definition.ts'
import type { LeafDay } from './leafDays.ts'
import type { BuildDeps } from './steps.ts'

/** What a build is made from. */
export interface Inputs {
  /** Equal for builds between which nothing has changed but today's events. */
  readonly same: string
  /** Under which runs today's events were counted: leaf and run. */
  readonly today: readonly (readonly [leafId: string, runId: string])[]
}

/** The members of a build that stay what they are, and those to be found anew. */
export interface Standing {
  readonly buildId: string
  /** SQL: `changed`, the hem numbers that stand for people of whom today's events have changed since that build. */
  readonly changed: (bind: Bind) => string
}

/**
 * What people's membership follows from, besides events: their links, profiles and opt-outs, in ClickHouse's tables;
 * which addresses are of one person;
 * and what is being erased. Null while the dictionaries may say something else than the tables. To be read before all
 * that it stands for: what changes later makes the next build's another.
 */
export async function readIdentityState({
  clickhouse,
  postgres,
}: BuildDeps): Promise<string | null> {
  const [found] = await clickhouse.rows<{ parts: string; is_fresh: boolean }>({
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
    params: {},
  })
  if (!found!.is_fresh) return null
  const { rows } = await postgres.query<{ erasures: string }>(
    `SELECT concat(count(*) FILTER (WHERE finished_at IS NULL), ' ', max(requested_at)) AS erasures FROM erasures`,
  )
  return `${found!.parts} ${rows[0]!.erasures}`
}

/** Kinds of leaves of which `same` tells when they may have changed. */
const toldKinds: ReadonlySet<string> = new Set(['event', 'profile', 'audience'])

/**
 * The inputs of a build of people; null for one that the next cannot stand on: with a limit, which one person more may
 * move, with leaves of other kinds, or while the dictionaries are being read anew. Every day's first build is made
 * from all.
 */
export function inputsOf(
  { organizationId, definition, intentWindowDays }: Build,
  { entity, limit, leaves }: Parsed,
  identity: string | null,
  {
    counted,
    usedBuilds,
    today,
  }: { counted: readonly LeafDay[]; usedBuilds: ReadonlyMap<string, string>; today: number },
): Inputs | null {
  if (identity === null || entity !== 'people' || limit !== null) return null
  if (!leaves.every(({ kind }) => toldKinds.has(kind))) return null
  const before = counted
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
    before,
  ])
  return {
    same: createHash('sha256').update(same).digest('hex'),
    today: counted
      .filter(({ day }) => day === today)
      .map(({ leaf_id, run_id }) => [leaf_id, run_id!]),
  }
}

/** The audience's last build with the same inputs but for today's events; null without one, or where members of it are gone. */
export async function readStanding(
  { postgres, clickhouse }: { postgres: Queryable; clickhouse: ClickHouse },
  { audienceId, organizationId }: Build,
  { same, today }: Inputs,
  todayDate: string,
): Promise<Standing | null> {
  const { rows } = await postgres.query<{ build_id: string; count: number; inputs: Inputs }>(
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
  const pairs = (runs: Inputs['today'], bind: Bind) =>
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
      const [then, now] = [pairs(last.inputs.today, bind), pairs(today, bind)]
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
