import { hemAsNumber } from '../../schemas/fields.ts'
import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import { bindings } from '../events/query/bind.ts'
import {
  erasedHems,
  isSuppressed,
  suppressedPeople,
} from '../events/query/profiles/suppressedPeople.ts'
import { personOf } from '../identity/store/personSql.ts'
import { profilesWhere } from '../identity/store/profileSql.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import type { StoredAudience } from './audiences.ts'
import { type CurrentPlan, currentCounts } from './builder/currentCounts.ts'
import { leafIdsOf } from './builder/leafDays.ts'
import { hemsOf } from './builder/membersPlan.ts'
import { leafMatchesSelect } from './builder/membersQuery.ts'
import { eventSums } from './builder/peopleMatchesQuery.ts'
import { readUsedBuilds, readUsedLists } from './builder/usedObjects.ts'
import { leavesOf, type Parsed, type Tree } from './definition/definition.ts'
import { dayOf } from './sample/sampleQuery.ts'

/** The current result of an audience's definition for one person. */
export interface Explanation {
  readonly isKnown: boolean
  /** Whether the person is in the served build; null before the first build. */
  readonly isInBuild: boolean | null
  /** Whether the person matches the definition now. */
  readonly matches: boolean
  readonly leaves: readonly ExplainedLeaf[]
}

interface ExplainedLeaf {
  /** The place of the leaf, as a JSON pointer. */
  readonly pointer: string
  readonly met: boolean
  readonly events?: number
}

/** Explains leaf by leaf whether a person is in an audience. Throws MissingReference. */
export async function explain(
  {
    queryExecutor,
    postgres,
    nowMs,
  }: { queryExecutor: QueryExecutor; postgres: Postgres; nowMs: number },
  { organizationId, projectId }: { organizationId: string; projectId: string },
  audience: StoredAudience,
  parsed: Parsed,
  hem: string,
): Promise<Explanation> {
  const plan: ExplainPlan = {
    organizationId,
    projectId,
    parsed,
    hem,
    buildId: audience.build_id,
    leafIds: leafIdsOf(projectId, parsed),
    today: dayOf(nowMs),
    asOfMs: nowMs,
    intentWindowDays: audience.intent_window_days,
    usedBuilds: await readUsedBuilds(postgres, parsed),
    usedLists: await readUsedLists(postgres, parsed),
    erased: await erasedHems(postgres, organizationId),
  }
  const [row] = await queryExecutor.rows<ExplainRow>(explainQuery(plan))
  const eventsQuery = explainEventsQuery(plan)
  const [events] = eventsQuery ? await queryExecutor.rows<{ counted: number[] }>(eventsQuery) : []
  const eventLeaves = leavesOf(parsed, 'event').map(({ index }) => index)
  const { is_in_build, is_hidden, has_profile } = row!
  const met = BigInt(row!.met)
  const isMet = (leaf: number) => ((met >> BigInt(leaf)) & 1n) === 1n
  const leaves = parsed.leaves.map(({ kind, pointer }, index) => ({
    pointer,
    met: isMet(index),
    ...(kind === 'event' && {
      events: is_hidden ? 0 : (events?.counted[eventLeaves.indexOf(index)] ?? 0),
    }),
  }))
  return {
    isKnown:
      !is_hidden &&
      (has_profile || is_in_build || met !== 0n || leaves.some(({ events = 0 }) => events > 0)),
    isInBuild: audience.build_id === null ? null : is_in_build && !is_hidden,
    matches:
      !is_hidden &&
      holds(parsed.include, isMet) &&
      !(parsed.exclude && holds(parsed.exclude, isMet)),
    leaves,
  }
}

function holds(tree: Tree, isMet: (leaf: number) => boolean): boolean {
  if ('leaf' in tree) return isMet(tree.leaf)
  if ('not' in tree) return !holds(tree.not, isMet)
  return 'all' in tree
    ? tree.all.every((one) => holds(one, isMet))
    : tree.any.some((one) => holds(one, isMet))
}

/** A definition's plan for one person, with the served build; null before the first. */
interface ExplainPlan extends CurrentPlan {
  readonly hem: string
  readonly buildId: string | null
}

interface ExplainRow {
  /** The matched leaves, as bits of one number in decimal digits. */
  readonly met: string
  readonly is_in_build: boolean
  /** Whether the person opted out or is being erased, and so matches nothing. */
  readonly is_hidden: boolean
  readonly has_profile: boolean
}

const none = '00000000-0000-0000-0000-000000000000'

function explainQuery(plan: ExplainPlan): Query {
  const { bind, params } = bindings()
  const hem = bind('String', plan.hem)
  const member = hemAsNumber(hem)
  const build = bind('UUID', plan.buildId ?? none)
  return {
    sql: `SELECT
  toString((SELECT groupBitOr(met) FROM (
${leafMatchesSelect(withCounts(plan), bind)}
))) AS met,
  (SELECT toBool(count() > 0) FROM audience_members WHERE build_id = ${build} AND ${personOf('hem_number')} = ${personOf(member)}) AS is_in_build,
  toBool(${isSuppressed(member, suppressedPeople(plan.organizationId, plan.erased, bind))}) AS is_hidden,
  (${profilesWhere(['toBool(count() > 0)'], [`hem IN (${hemsOf(member, 'system.one')})`])}) AS has_profile`,
    params,
  }
}

/** The person's events of each event leaf, as the array `counted`; null without event leaves. */
function explainEventsQuery(plan: ExplainPlan): Query | null {
  const { bind, params } = bindings()
  const events = eventSums(withCounts(plan), bind)
  if (!events) return null
  return {
    sql: `SELECT [${events.sums.map((sum) => `toFloat64(sum(${sum}))`).join(', ')}] AS counted
FROM (
${events.select}
)
WHERE ${personOf('hem_number')} = ${personOf(hemAsNumber(bind('String', plan.hem)))}`,
    params,
  }
}

const withCounts = (plan: ExplainPlan) => ({
  ...plan,
  eventCounts:
    leavesOf(plan.parsed, 'event').length > 0
      ? (bind: Parameters<typeof currentCounts>[1]) => currentCounts(plan, bind)
      : null,
})
