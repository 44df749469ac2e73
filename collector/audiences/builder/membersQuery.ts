import { hemAsNumber } from '../../../schemas/fields.ts'
import type { Bind } from '../../events/query/bind.ts'
import { isSuppressed, suppressedPeople } from '../../events/query/profiles/suppressedPeople.ts'
import { personOf } from '../../identity/store/personSql.ts'
import type { Parsed, Tree } from '../definition/definition.ts'
import { companyMatchesQueries } from './companyMatchesQuery.ts'
import type { MembersPlan } from './membersPlan.ts'
import { peopleMatchesQueries } from './peopleMatchesQuery.ts'

/**
 * SQL: `member` (the person's main hem number, or the company's domain) and `met`, the leaves that the member
 * matches. It has a row for each member that matches at least one. A leaf is one bit of `met`. Every source
 * (events, profiles, intent, audiences, lists) selects `member` and `bits` for its members, and one GROUP BY
 * combines the bits. A person matches a leaf by any of their addresses, and by the events of all their
 * addresses together.
 */
export function leafMatchesSelect(plan: MembersPlan, bind: Bind): string {
  const matches =
    plan.parsed.entity === 'people'
      ? peopleMatchesQueries(plan, bind)
      : companyMatchesQueries(plan, bind)
  return `SELECT one AS member, groupBitOr(bits) AS met
FROM (
SELECT ${plan.parsed.entity === 'people' ? personOf('member') : 'member'} AS one, bits
FROM (
${matches.join('\nUNION ALL\n')}
)
)
WHERE ${memberConditions(plan, bind).join(' AND ')}
GROUP BY one`
}

/**
 * Returns SQL of all members that match the definition, with their matched leaves: `member`, `met`. HAVING
 * contains the tree.
 */
function matchingSelect(plan: MembersPlan, bind: Bind): string {
  return `${leafMatchesSelect(plan, bind)}
HAVING ${matchesTree(plan.parsed, 'met')}`
}

/** Returns SQL of all members that match the definition, as one column `member` in the order of a build. */
export function membersSelect(plan: MembersPlan, bind: Bind): string {
  const { limit } = plan.parsed
  const members = matchingSelect(plan, bind)
  // A hash selects the members within the limit, so every build selects the same ones.
  const cut =
    limit === null ? '' : `\nORDER BY sipHash64(member), member LIMIT ${bind('UInt64', limit)}`
  return `SELECT member FROM (\n${members}${cut}\n)\nORDER BY ${orderOf(plan)}`
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
