import { companyFields, hemAsNumber } from '../../../schemas/fields.ts'
import type { Bind } from '../../events/query/bind.ts'
import { isSuppressed, suppressedPeople } from '../../events/query/profiles/suppressedPeople.ts'
import { hemsOfPerson, personOf } from '../../identity/store/personSql.ts'
import { companyDomains, peopleWhere } from '../../identity/store/profileSql.ts'
import { leavesOf, type Parsed, type Tree } from '../definition/definition.ts'
import type { InterestPlan } from '../signals/interestPlan.ts'
import { companyInterest, peopleInterest } from '../signals/interestQuery.ts'
import { audienceMatchesQueries, listMatchesQueries } from './membershipMatchesQuery.ts'
import { bitOf, type MembersPlan, profileBits } from './membersPlan.ts'
import { eventSums, peopleMatchesQueries } from './peopleMatchesQuery.ts'

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

/** All members that match the definition, as leafMatchesSelect. HAVING contains the tree. */
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

/** The order of a build. People are in the order of their hems' text, as profiles are stored. */
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

/** The lowest scores of the buckets medium and high: one and three full signals without a baseline. */
const mediumFrom = 50
const highFrom = 75

/**
 * Returns SQL of everybody with interest in the topics of the intent leaves. It has `member`, the `bits` of the matched
 * leaves, which may be none, and `bucket` by the highest score. People match by any of their addresses.
 */
function intentMatchesQueries(plan: MembersPlan, bind: Bind): string[] {
  const interest = interestPlanOf(plan)
  if (!interest) return []
  const hems =
    plan.hem === undefined
      ? undefined
      : `SELECT arrayJoin(${hemsOfPerson(hemAsNumber(bind('String', plan.hem)))}) AS hem_number`
  return [
    `SELECT member, ${bitsOf(plan, bind)} AS bits,
  toUInt8(1 + (max(score) >= ${mediumFrom}) + (max(score) >= ${highFrom})) AS bucket
FROM (
${plan.parsed.entity === 'people' ? peopleInterest(interest, bind, hems) : companyInterest(interest, bind)}
)
GROUP BY member`,
  ]
}

/** Returns the interest that the intent leaves read together; null without intent leaves. */
function interestPlanOf({
  parsed,
  organizationId,
  today,
  intentWindowDays,
  erased,
}: MembersPlan): InterestPlan | null {
  const leaves = leavesOf(parsed, 'intent')
  if (leaves.length === 0) return null
  const topics = [...new Set(leaves.flatMap(({ leaf }) => leaf.topics))]
  return {
    organizationId,
    topics,
    today,
    windowDays: intentWindowDays,
    erased,
  }
}

function bitsOf({ parsed }: MembersPlan, bind: Bind): string {
  return leavesOf(parsed, 'intent')
    .map(({ index, leaf: { topics, match, minScore } }) => {
      const met = `countIf(topic IN ${bind('Array(String)', topics)} AND score >= ${bind('UInt8', minScore)})`
      return bitOf(index, `${met} >= ${match === 'all' ? topics.length : 1}`)
    })
    .join(' + ')
}

/**
 * Returns the companies of each source except intent: SELECTs of `member`, the domain, and `bits`, the matched leaves.
 * Events are those of all employees. A field of the company is read from the companies, or from its people's
 * profiles if companies do not contain it. A field of a person matches if it matches any employee.
 */
function companyMatchesQueries(plan: MembersPlan, bind: Bind): string[] {
  const events = eventSums(plan, bind)
  return [
    ...(events
      ? [
          `SELECT company AS member, ${events.bits((sum) => `sum(${sum})`)} AS bits
FROM (SELECT _hem_number, assumeNotNull(company_domain) AS company FROM (${companyDomains})) AS work
INNER JOIN (
${events.select}
) AS seen ON work._hem_number = seen.hem_number
GROUP BY member
HAVING bits != 0`,
        ]
      : []),
    ...profileMatchesQueries(plan, bind),
    ...audienceMatchesQueries(plan, 'company_domain', bind),
    ...listMatchesQueries(plan, bind),
  ]
}

const namesOfCompany = new Set(companyFields.map(({ name }) => name))

function profileMatchesQueries(plan: MembersPlan, bind: Bind): string[] {
  const leaves = profileBits(plan, bind).map((leaf) => ({
    ...leaf,
    isOfCompany: namesOfCompany.has(leaf.field),
  }))
  if (leaves.length === 0) return []
  const ofCompany = leaves.filter(({ isOfCompany }) => isOfCompany)
  const isKnown = 'company_domain IN (SELECT company_domain FROM companies)'
  const bits = (some: typeof leaves) =>
    some.map(({ index, condition }) => bitOf(index, condition)).join(' + ')
  const ofPeople = leaves.map((leaf) =>
    leaf.isOfCompany ? { ...leaf, condition: `(NOT ${isKnown} AND ${leaf.condition})` } : leaf,
  )
  return [
    ...(ofCompany.length > 0
      ? [
          `SELECT company_domain AS member, ${bits(ofCompany)} AS bits
FROM companies FINAL
WHERE ${ofCompany.map(({ condition }) => condition).join(' OR ')}`,
        ]
      : []),
    peopleWhere(
      ['assumeNotNull(company_domain) AS member', `${bits(ofPeople)} AS bits`],
      ["company_domain != ''", `(${ofPeople.map(({ condition }) => condition).join(' OR ')})`],
      bind('UUID', plan.organizationId),
    ),
  ]
}
