import { bindings } from '../../events/query/bind.ts'
import { comparedValues, comparesValues } from '../../events/query/comparedValues.ts'
import { alikeMin } from '../../events/query/freeAnswers.ts'
import type { ClickHouse, Query } from '../../platform/clickhouse/client.ts'
import {
  type Leaf,
  leavesMax,
  type Parsed,
  type ProfileCondition,
} from '../definition/definition.ts'
import { isIdentifying } from '../definition/identifyingFields.ts'
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
 * Whether the number of members would reveal data of few of them. It does in three cases:
 *
 * - A condition decides about fewer than 25 members who meet it. A number without this condition then tells who they
 *   are. Each value of `in` and the value that `ne` excludes is a condition, too. Otherwise two definitions that differ
 *   in such a value would single out its members.
 * - Fewer than 25 people meet the same conditions, whether they are members or not. Otherwise the numbers of `A or B`,
 *   of `A` and of `B` tell how many are in both, and whether these few meet a further condition. So do two lists of
 *   values, of which one person has one of each.
 * - A condition does not name its values: a pattern, an order or the presence of a value. Its number without those of
 *   frequent values tells about the people who have a rare one.
 *
 * A definition with more values than fit in 64 bits counts as revealing, and so does one with leaves other than by
 * profile and intent. `settings` are those of the statement.
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
export type DecisionPlan = Omit<MembersPlan, 'leafIds' | 'eventCounts' | 'usedBuilds' | 'usedLists'>

const nothingElse = {
  leafIds: new Map<number, string>(),
  eventCounts: null,
  usedBuilds: new Map<string, string>(),
  usedLists: { kinds: new Map<string, never>(), notCompleted: [] },
}

/**
 * Returns the conditions of a definition that decide about members; null for other leaves, conditions that do not name
 * their values, or too many values.
 */
function partsOf({ leaves }: Parsed): Part[] | null {
  if (leaves.some((leaf) => !namesWhatItMeets(leaf))) return null
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

function namesWhatItMeets(leaf: Leaf): boolean {
  if (leaf.kind === 'profile') return leaf.conditions.every(namesItsValues)
  return leaf.kind === 'intent'
}

const namesItsValues = (condition: ProfileCondition): boolean =>
  // Nothing else can ask for an identifying field, so no number tells about a value of it.
  'isSet' in condition ? isIdentifying(condition) : comparesValues(condition)

/** Whether who meets the condition has a value that it names, instead of any other one. */
const matchesItsValues = (condition: ProfileCondition): boolean =>
  'isSet' in condition ? condition.isSet : condition.op !== 'ne'

/** Returns the values of a condition, each of which decides about other members than all of the condition. */
function valuesOf(condition: ProfileCondition): ProfileCondition[] {
  if (!('isSet' in condition)) return comparedValues(condition)
  return condition.isSet ? [] : [{ ...condition, isSet: true }]
}

/**
 * Returns SQL of `fewest`: about how few members one of the conditions decides, of those who meet it. Or how few people
 * meet the same conditions, if they are fewer.
 */
function fewestDecidedQuery(plan: DecisionPlan, parts: readonly Part[]): Query {
  const { bind, params } = bindings()
  const further = parts.flatMap(({ leaf, bit, condition }) =>
    condition ? [{ leaf, bit, condition }] : [],
  )
  const list = (sqlOf: (part: Part) => string) => `[${parts.map(sqlOf).join(', ')}]`
  const masked = ({ leaf }: Part) => `bitShiftLeft(toUInt64(1), ${leaf})`
  return {
    sql: `SELECT least(min(members), arrayMin(sumForEach(decided))) AS fewest
FROM (
SELECT members, arrayMap((with_leaf, without_leaf, bit) ->
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
