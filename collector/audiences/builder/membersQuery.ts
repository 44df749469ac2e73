import { hemAsNumber } from '../../../schemas/fields.ts'
import type { Bind } from '../../events/query/bind.ts'
import { isSuppressed, suppressedPeople } from '../../events/query/profiles/suppressedPeople.ts'
import { personOf } from '../../identity/store/personSql.ts'
import type { Parsed, Tree } from '../definition/definition.ts'
import { companyMatchesQueries } from './companyMatchesQuery.ts'
import { intentMatchesQueries } from './intentMatchesQuery.ts'
import type { MembersPlan } from './membersPlan.ts'
import { peopleMatchesQueries } from './peopleMatchesQuery.ts'

/**
 * SQL: `member`, `met` and `bucket`. A member is the person's main hem number, or the company's domain. `met` has the
 * leaves that the member matches, and `bucket` the strength of interest in the topics of intent leaves. It has a row for each member that matches
 * at least one leaf. A leaf is one bit of `met`. Every source (events, profiles, intent, audiences, lists) selects
 * `member`, `bits` and `bucket` for its members, and one GROUP BY combines them. A person matches a leaf by any of their
 * addresses, and by the events of all their addresses together.
 */
export function leafMatchesSelect(plan: MembersPlan, bind: Bind): string {
  const matches =
    plan.parsed.entity === 'people'
      ? peopleMatchesQueries(plan, bind)
      : companyMatchesQueries(plan, bind)
  const sources = [
    ...matches.map((select) => `SELECT member, bits, toUInt8(0) AS bucket FROM (\n${select}\n)`),
    ...intentMatchesQueries(plan, bind),
  ]
  return `SELECT one AS member, groupBitOr(bits) AS met, max(interest) AS bucket
FROM (
SELECT ${plan.parsed.entity === 'people' ? personOf('member') : 'member'} AS one, bits, bucket AS interest
FROM (
${sources.join('\nUNION ALL\n')}
)
)
WHERE ${memberConditions(plan, bind).join(' AND ')}
GROUP BY one
HAVING met != 0`
}

/**
 * Returns SQL of all members that match the definition, as leafMatchesSelect. HAVING contains the tree.
 */
function matchingSelect(plan: MembersPlan, bind: Bind): string {
  return `${leafMatchesSelect(plan, bind)}
  AND ${matchesTree(plan.parsed, 'met')}`
}

/** Returns SQL of all members that match the definition, as `member` and `bucket`, in the order of a build. */
export function membersSelect(plan: MembersPlan, bind: Bind): string {
  const { limit } = plan.parsed
  const members = matchingSelect(plan, bind)
  // A hash selects the members within the limit, so every build selects the same ones.
  const cut =
    limit === null ? '' : `\nORDER BY sipHash64(member), member LIMIT ${bind('UInt64', limit)}`
  return `SELECT member, bucket FROM (\n${members}${cut}\n)\nORDER BY ${orderOf(plan)}`
}

/**
 * Returns SQL of a build's order. People are in the order of their hems' text, like profiles, so that pages
 * read adjacent rows.
 */
export const orderOf = ({ parsed }: Pick<MembersPlan, 'parsed'>): string =>
  parsed.entity === 'people' ? 'reinterpretAsFixedString(member)' : 'member'

function memberConditions(
  { organizationId, parsed, erased, hem, among }: MembersPlan,
  bind: Bind,
): string[] {
  if (parsed.entity === 'companies') return ["one != ''"]
  return [
    'one != 0',
    `NOT ${isSuppressed('one', suppressedPeople(organizationId, erased, bind))}`,
    ...(hem === undefined ? [] : [`one = ${personOf(hemAsNumber(bind('String', hem)))}`]),
    ...(among === undefined ? [] : [`one IN (${among(bind)})`]),
  ]
}

/** Returns the definition as a condition over `met`, the SQL of a number whose bits are the matched leaves. */
function matchesTree({ include, exclude }: Parsed, met: string): string {
  const conditions = [
    treeCondition(include, met),
    ...(exclude ? [`NOT ${treeCondition(exclude, met)}`] : []),
  ]
  return `(${conditions.join(' AND ')})`
}

function treeCondition(tree: Tree, met: string): string {
  if ('leaf' in tree) return `bitTest(${met}, ${tree.leaf})`
  if ('not' in tree) return `(NOT ${treeCondition(tree.not, met)})`
  const [trees, operator] = 'all' in tree ? [tree.all, ' AND '] : [tree.any, ' OR ']
  return `(${trees.map((one) => treeCondition(one, met)).join(operator)})`
}
