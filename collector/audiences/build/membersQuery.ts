import { hemAsNumber, numberAsHem } from '../../../schemas/fields.ts'
import { hiddenPeople } from '../../query/hiddenPeople.ts'
import type { Bind } from '../../query/where.ts'
import type { Leaf, Parsed, Tree } from '../definition/definition.ts'
import { companyHits } from './companyHits.ts'
import { peopleHits } from './peopleHits.ts'
import type { UsedLists } from './usedLists.ts'

/** Who is looked for: whoever meets a definition, of an organization's project. */
export interface MembersPlan {
  readonly organizationId: string
  readonly parsed: Parsed
  /** The ids of the event leaves, by their place among the leaves. */
  readonly leafIds: ReadonlyMap<number, string>
  /** SQL of how many events meet them: rows of `leaf_id`, `day`, `cookie_id`, `events`; null without event leaves. */
  readonly eventCounts: ((bind: Bind) => string) | null
  /** The day that events are counted back from, since 1970 (UTC). */
  readonly today: number
  /** How many days, `today` the last of them, intent leaves look at. */
  readonly intentWindowDays: number
  /** Which build of each audience that a leaf names. */
  readonly usedBuilds: ReadonlyMap<string, string>
  /** The lists that leaves name. */
  readonly usedLists: UsedLists
  /** Hems of people who are to be erased. */
  readonly erased: readonly string[]
  /** The only person who is looked at; absent for all. */
  readonly hem?: string
  /** SQL of the hem numbers of the only people who are looked at; absent for all. */
  readonly among?: ((bind: Bind) => string) | undefined
  /** Only members whose share of a hash is below this many 65,536ths; null for all. */
  readonly below: number | null
}

/** SQL: a leaf's bit where the condition holds, else 0. */
export const bitOf = (index: number, condition: string): string =>
  `bitShiftLeft(toUInt64(ifNull(${condition}, false)), ${index})`

/** The leaves of a kind, with their places. */
export const leavesOf = <K extends Leaf['kind']>({ leaves }: Parsed, kind: K) =>
  leaves.flatMap((leaf, index) =>
    leaf.kind === kind ? [{ index, leaf: leaf as Extract<Leaf, { kind: K }> }] : [],
  )

/**
 * SQL: which leaves everybody meets who meets any: `member` (the hem's number, or the company's domain) and `met`. Each
 * source says for the members it knows which leaves they meet, as bits of one number; one GROUP BY brings them together.
 */
export function metSelect(plan: MembersPlan, bind: Bind): string {
  const hits = plan.parsed.entity === 'people' ? peopleHits(plan, bind) : companyHits(plan, bind)
  return `SELECT member, groupBitOr(bits) AS met
FROM (
${hits.join('\nUNION ALL\n')}
)
WHERE ${memberConditions(plan, bind).join(' AND ')}
GROUP BY member`
}

/** SQL: everybody who meets the definition, with the leaves that they meet: `member`, `met`. Its tree is the HAVING. */
export function meetingSelect(plan: MembersPlan, bind: Bind): string {
  const { include, exclude } = plan.parsed
  const having = [treeCondition(include), ...(exclude ? [`NOT ${treeCondition(exclude)}`] : [])]
  return `${metSelect(plan, bind)}
HAVING ${having.join(' AND ')}`
}

/** SQL: everybody who meets the definition, as one column `member` in the order of a build. */
export function membersSelect(plan: MembersPlan, bind: Bind): string {
  const { limit } = plan.parsed
  const members = meetingSelect(plan, bind)
  // Which of more than the limit is decided by a hash: the same ones at every build.
  const cut = limit === null ? '' : `\nORDER BY sipHash64(member), member LIMIT ${bind('UInt64', limit)}`
  return `SELECT member FROM (\n${members}${cut}\n)\nORDER BY ${orderOf(plan)}`
}

/** SQL: the order of a build, which for people is that of their hems' text: so neighbours in it are neighbours among the profiles. */
export const orderOf = ({ parsed }: Pick<MembersPlan, 'parsed'>): string =>
  parsed.entity === 'people' ? 'reinterpretAsFixedString(member)' : 'member'

function memberConditions(
  { parsed, organizationId, erased, below, hem, among }: MembersPlan,
  bind: Bind,
): string[] {
  if (parsed.entity === 'companies') {
    return [
      "member != ''",
      ...(below === null ? [] : [`bitAnd(cityHash64(member), 65535) < ${bind('UInt32', below)}`]),
    ]
  }
  return [
    'member != 0',
    `member NOT IN (${hiddenPeople(organizationId, erased, bind)})`,
    ...(below === null ? [] : [`${shareOfHem('member')} < ${bind('UInt32', below)}`]),
    ...(hem === undefined ? [] : [`member = ${hemAsNumber(bind('String', hem))}`]),
    ...(among === undefined ? [] : [`member IN (${among(bind)})`]),
  ]
}

/** SQL over rows with a column `hem`: those of the people that the plan looks at; null where it looks at all. */
export function hemCondition(
  { below, hem, among }: Pick<MembersPlan, 'below' | 'hem' | 'among'>,
  bind: Bind,
): string | null {
  if (among !== undefined) return `hem IN (SELECT ${numberAsHem('changed')} FROM (${among(bind)}))`
  if (hem !== undefined) return `hem = ${bind('String', hem)}`
  if (below === null || below >= 65_536) return null
  return `hem < ${bind('String', below.toString(16).padStart(4, '0'))}`
}

/** SQL: the first 16 bits of a hem, as its text is ordered. */
const shareOfHem = (hemNumber: string): string => `byteSwap(toUInt16(bitAnd(${hemNumber}, 65535)))`

/** The tree as a condition over `met`, the bits of all leaves that are met. */
function treeCondition(tree: Tree): string {
  if ('leaf' in tree) return `bitTest(met, ${tree.leaf})`
  if ('not' in tree) return `(NOT ${treeCondition(tree.not)})`
  const [trees, operator] = 'all' in tree ? [tree.all, ' AND '] : [tree.any, ' OR ']
  return `(${trees.map(treeCondition).join(operator)})`
}
