import { bindings } from '../../events/query/bind.ts'
import { comparedValues } from '../../events/query/comparedValues.ts'
import { alikeMin } from '../../events/query/freeAnswers.ts'
import type { ClickHouse, Query } from '../../platform/clickhouse/client.ts'
import { leavesMax, type Parsed, type ProfileCondition } from '../definition/definition.ts'
import type { MembersPlan } from './membersPlan.ts'
import { leafMatchesSelect, matchesTree } from './membersQuery.ts'

/**
 * A condition that decides about members, as a bit of `met`: a leaf, or one value with which the leaf compares.
 * Without `condition` it is the bit of the leaf.
 */
interface Part {
  readonly leaf: number
  readonly bit: number
  readonly condition?: ProfileCondition
}

/**
 * Whether the number of members would reveal data of few of them. It does if a condition of the definition decides
 * about fewer than 25 members who meet it. A number without this condition then tells who they are. Each value of `in`,
 * the value that `ne` excludes and the bound of a comparison is a condition, too. Otherwise two definitions that differ
 * in such a value would single out its members. A definition with more values than fit in 64 bits counts as revealing,
 * and so does one with leaves other than by profile and intent. `settings` are those of the statement.
 */
export async function singlesOut(
  reader: Pick<ClickHouse, 'rows'>,
  plan: DecisionPlan,
  settings = '',
): Promise<boolean> {
  const parts = partsOf(plan.parsed)
  if (parts === null) return true
  const { sql, params } = fewestDecidedQuery(plan, parts)
  const [found] = await reader.rows<{ fewest: number }>({ sql: `${sql}\n${settings}`, params })
  return found!.fewest < alikeMin
}

/** The parts of a plan that matter to leaves by profile and intent. */
type DecisionPlan = Omit<MembersPlan, 'leafIds' | 'eventCounts' | 'usedBuilds' | 'usedLists'>

const nothingElse = {
  leafIds: new Map<number, string>(),
  eventCounts: null,
  usedBuilds: new Map<string, string>(),
  usedLists: { kinds: new Map<string, never>(), notCompleted: [] },
}

/** Returns the conditions of a definition that decide about members; null for other leaves, or too many values. */
function partsOf({ leaves }: Parsed): Part[] | null {
  if (leaves.some(({ kind }) => kind !== 'profile' && kind !== 'intent')) return null
  let bits = leaves.length
  const parts = leaves.flatMap((leaf, index): Part[] => {
    const itself = { leaf: index, bit: index }
    if (leaf.kind !== 'profile') return [itself]
    const values = leaf.conditions.flatMap(valuesOf)
    const isPositive = leaf.conditions.every(matchesItsValues)
    return [
      ...(isPositive ? [itself] : []),
      ...values.map((condition) => ({ leaf: index, bit: bits++, condition })),
    ]
  })
  return bits > leavesMax ? null : parts
}

/** Whether who meets the condition has a value that it names, instead of any other one. */
const matchesItsValues = (condition: ProfileCondition): boolean =>
  'isSet' in condition ? condition.isSet : condition.op !== 'ne'

/** Returns the values of a condition, each of which decides about other members than all of the condition. */
function valuesOf(condition: ProfileCondition): ProfileCondition[] {
  if (!('isSet' in condition)) return comparedValues(condition)
  return condition.isSet ? [] : [{ ...condition, isSet: true }]
}

/** Returns SQL of `fewest`: about how few members one of the conditions decides, of those who meet it. */
function fewestDecidedQuery(plan: DecisionPlan, parts: readonly Part[]): Query {
  const { bind, params } = bindings()
  const further = parts.flatMap(({ leaf, bit, condition }) =>
    condition ? [{ leaf, bit, condition }] : [],
  )
  const list = (sqlOf: (part: Part) => string) => `[${parts.map(sqlOf).join(', ')}]`
  const masked = ({ leaf }: Part) => `bitShiftLeft(toUInt64(1), ${leaf})`
  return {
    sql: `SELECT arrayMin(sumForEach(decided)) AS fewest
FROM (
SELECT arrayMap((with_leaf, without_leaf, bit) ->
    if(bitTest(met, bit) AND ${matchesTree(plan.parsed, 'with_leaf')} != ${matchesTree(plan.parsed, 'without_leaf')}, members, 0),
  ${list((part) => `bitOr(met, ${masked(part)})`)},
  ${list((part) => `bitAnd(met, bitNot(${masked(part)}))`)},
  ${list(({ bit }) => String(bit))}) AS decided
FROM (
SELECT met, count() AS members FROM (
${leafMatchesSelect({ ...plan, ...nothingElse, further }, bind)}
)
GROUP BY met
)
)`,
    params,
  }
}
