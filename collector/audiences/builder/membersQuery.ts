import { hemAsNumber } from '../../../schemas/fields.ts'
import type { Bind } from '../../events/query/bind.ts'
import { isSuppressed, suppressedPeople } from '../../events/query/suppressedPeople.ts'
import { personOf } from '../../identity/store/personSql.ts'
import type { Tree } from '../definition/definition.ts'
import { companyHits } from './companyHits.ts'
import type { MembersPlan } from './membersPlan.ts'
import { peopleHits } from './peopleHits.ts'

/**
 * SQL: which leaves everybody meets who meets any: `member` (the hem number that stands for the person, or the company's
 * domain) and `met`. Each source says for the members it knows which leaves they meet, as bits of one number; one GROUP
 * BY brings them together. A person meets a leaf by any of their addresses, and by the events of all of them together.
 */
export function metSelect(plan: MembersPlan, bind: Bind): string {
  const hits = plan.parsed.entity === 'people' ? peopleHits(plan, bind) : companyHits(plan, bind)
  return `SELECT one AS member, groupBitOr(bits) AS met
FROM (
SELECT ${plan.parsed.entity === 'people' ? personOf('member') : 'member'} AS one, bits
FROM (
${hits.join('\nUNION ALL\n')}
)
)
WHERE ${memberConditions(plan, bind).join(' AND ')}
GROUP BY one`
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
  const cut =
    limit === null ? '' : `\nORDER BY sipHash64(member), member LIMIT ${bind('UInt64', limit)}`
  return `SELECT member FROM (\n${members}${cut}\n)\nORDER BY ${orderOf(plan)}`
}

/** SQL: the order of a build, which for people is that of their hems' text: so neighbours in it are neighbours among the profiles. */
export const orderOf = ({ parsed }: Pick<MembersPlan, 'parsed'>): string =>
  parsed.entity === 'people' ? 'reinterpretAsFixedString(member)' : 'member'

function memberConditions(
  { parsed, hiddenFrom, erased, below, hem, among }: MembersPlan,
  bind: Bind,
): string[] {
  if (parsed.entity === 'companies') {
    return [
      "one != ''",
      ...(below === null ? [] : [`bitAnd(cityHash64(one), 65535) < ${bind('UInt32', below)}`]),
    ]
  }
  return [
    'one != 0',
    `NOT ${isSuppressed('one', suppressedPeople(hiddenFrom, erased, bind))}`,
    ...(below === null ? [] : [`${shareOfHem('one')} < ${bind('UInt32', below)}`]),
    ...(hem === undefined ? [] : [`one = ${personOf(hemAsNumber(bind('String', hem)))}`]),
    ...(among === undefined ? [] : [`one IN (${among(bind)})`]),
  ]
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
