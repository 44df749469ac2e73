import type { Static } from 'typebox'
import { hemAsNumber, numberAsHem } from '../../../schemas/fields.ts'
import { type Bind, bindings } from '../../events/query/bind.ts'
import { profileFilterCondition } from '../../events/query/profiles/profileFilter.ts'
import { companiesWhere } from '../../identity/store/companySql.ts'
import { personOf } from '../../identity/store/personSql.ts'
import { profilesWhere } from '../../identity/store/profileSql.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { companyInterest, peopleInterest } from '../signals/interestQuery.ts'
import type { TopicInterest } from './intentSchemas.ts'
import type { TopicPlan } from './topicPlan.ts'

export interface TopicRow {
  /** The hem, or the company's domain. */
  readonly member: string
  readonly score: number
  /** The strongest first. */
  readonly topics: readonly Static<typeof TopicInterest>[]
}

/** A row of previewQuery: one of `total`. */
export interface PreviewRow extends TopicRow {
  readonly total: number
}

/** SQL: the topics of a member as an array, the strongest first. */
export const topicsColumn =
  'arraySort(one -> (-toInt16(one.score), one.topic), groupArray((toString(topic), score, signals, toString(last_seen))::Tuple(topic String, score UInt8, signals UInt64, last_seen String)))'

/** Selects a page of the interested members, highest score first, and one more, which shows that there are more. */
export function topicQuery(plan: TopicPlan): Query {
  const { bind, params } = bindings()
  const members = interestedMembers(plan, bind)
  const sql = `${selectFrom(plan, members)}
${after(plan, bind)}
ORDER BY best DESC, found.member
LIMIT ${bind('UInt32', plan.limit + 1)}`
  return { sql, params }
}

/** Selects up to `limit` of the interested members in the order of a hash with this salt, each with their total number. */
export function previewQuery(plan: TopicPlan, salt: string): Query {
  const { bind, params } = bindings()
  const members = interestedMembers(plan, bind)
  const sql = `${selectFrom(plan, members, ', count() OVER () AS total')}
ORDER BY sipHash64(found.member, ${bind('String', salt)}), found.member
LIMIT ${bind('UInt32', plan.limit)}`
  return { sql, params }
}

const selectFrom = ({ entity }: TopicPlan, members: string, more = '') =>
  `SELECT ${entity === 'people' ? numberAsHem('found.member') : 'found.member'} AS member, best AS score, topics${more}
FROM (
${members}
) AS found`

/** Returns the condition of the members after the previous page; empty on the first. */
function after({ entity, after }: TopicPlan, bind: Bind): string {
  if (after === null) return ''
  const score = bind('UInt8', after.score)
  const text = bind('String', after.member)
  const member = entity === 'people' ? hemAsNumber(text) : text
  return `WHERE best < ${score} OR (best = ${score} AND found.member > ${member})`
}

/** Returns SQL of the interested members: `member`, `best`, the score, and `topics`. */
function interestedMembers(plan: TopicPlan, bind: Bind): string {
  const isOfPeople = plan.entity === 'people'
  const interest = isOfPeople ? peopleInterest(plan, bind) : companyInterest(plan, bind)
  const chosen = [
    ...(plan.filters.length > 0 ? [filteredMembers(plan, bind)] : []),
    ...(plan.buildId === null ? [] : [audienceCondition(plan.buildId, isOfPeople, bind)]),
  ]
  const ofTopics = plan.match === 'all' ? 'min' : 'max'
  const meets = [
    `best >= ${bind('UInt8', plan.minScore)}`,
    ...(plan.match === 'all' ? [`length(topics) = ${bind('UInt32', plan.topics.length)}`] : []),
  ]
  return `SELECT member, ${ofTopics}(score) AS best, ${topicsColumn} AS topics
FROM (
${interest}
)
${chosen.length > 0 ? `WHERE ${chosen.join(' AND ')}` : ''}
GROUP BY member
HAVING ${meets.join(' AND ')}`
}

function filteredMembers({ filters, entity }: TopicPlan, bind: Bind): string {
  const conditions = filters.map((filter) => profileFilterCondition(filter, bind))
  return entity === 'people'
    ? `member IN (SELECT ${personOf('hem_number')} FROM (${profilesWhere([`${hemAsNumber('hem')} AS hem_number`], conditions)}))`
    : `member IN (${companiesWhere(conditions)})`
}

function audienceCondition(buildId: string, isOfPeople: boolean, bind: Bind): string {
  const column = isOfPeople ? personOf('hem_number') : 'company_domain'
  return `member IN (SELECT ${column} FROM audience_members WHERE build_id = ${bind('UUID', buildId)})`
}
