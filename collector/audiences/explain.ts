import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import { erasedHems } from '../events/query/profiles/suppressedPeople.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import type { StoredAudience } from './audiences.ts'
import { leafIdsOf } from './builder/leafDays.ts'
import { readUsedBuilds, readUsedLists } from './builder/usedObjects.ts'
import type { Parsed, Tree } from './definition/definition.ts'
import { leavesOf } from './definition/leaves.ts'
import {
  type ExplainPlan,
  type ExplainRow,
  explainEventsQuery,
  explainQuery,
} from './explainQuery.ts'
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

export interface ExplainedLeaf {
  /** The place of the leaf, as a JSON pointer. */
  readonly pointer: string
  readonly met: boolean
  /** For an event leaf: the number of counted events. */
  readonly events?: number
}

/**
 * Explains leaf by leaf whether a person is in an audience. Throws the errors of readers, and
 * MissingReference.
 */
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
