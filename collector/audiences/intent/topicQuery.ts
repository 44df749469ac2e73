import { hemAsNumber, numberAsHem } from '../../../schemas/fields.ts'
import { type Bind, bindings } from '../../events/query/bind.ts'
import { profileFilterCondition } from '../../events/query/profileFilter.ts'
import { companiesWhere } from '../../identity/store/companySql.ts'
import { personOf } from '../../identity/store/personSql.ts'
import { profilesWhere } from '../../identity/store/profileSql.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { companyInterest, peopleInterest } from '../signals/interestQuery.ts'
import type { TopicPlan } from './topicPlan.ts'

/** Interest in one topic: its id, score, signals within the window and the day of the last signal. */
export type TopicTuple = readonly [topic: string, score: number, signals: number, lastSeen: string]

/** A row of topicQuery. */
export interface TopicRow {
  /** The hem, or the company's domain. */
  readonly member: string
  readonly score: number
  /** The strongest first. */
  readonly topics: readonly TopicTuple[]
  /** For a preview: the total number of rows. */
  readonly total?: number
}

/** SQL: the topics of a member as an array of tuples, the strongest first. */
export const topicTuples =
  'arraySort(one -> (-toInt16(one.2), one.1), groupArray((toString(topic), score, signals, toString(last_seen))))'

/**
 * Selects the interested members, highest score first. It reads one more than the limit, which shows whether
 * there are more. With `counted` each row has the total number.
 */
export function topicQuery(plan: TopicPlan, counted = false): Query {
  const { bind, params } = bindings()
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
  const after = plan.after && {
    score: bind('UInt8', plan.after.score),
    member: isOfPeople
      ? hemAsNumber(bind('String', plan.after.member))
      : bind('String', plan.after.member),
  }
  const sql = `SELECT ${isOfPeople ? numberAsHem('found.member') : 'found.member'} AS member, best AS score, topics${counted ? ', count() OVER () AS total' : ''}
FROM (
SELECT member, ${ofTopics}(score) AS best, ${topicTuples} AS topics
FROM (
${interest}
)
${chosen.length > 0 ? `WHERE ${chosen.join(' AND ')}` : ''}
GROUP BY member
HAVING ${meets.join(' AND ')}
) AS found
${after ? `WHERE best < ${after.score} OR (best = ${after.score} AND found.member > ${after.member})` : ''}
ORDER BY best DESC, found.member
LIMIT ${bind('UInt32', plan.limit + 1)}`
  return { sql, params }
}

/** Selects people with a profile that meets the filters, or companies that do. */
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
