import { hemAsNumber } from '../../../schemas/fields.ts'
import { bindings } from '../../events/query/bind.ts'
import { hemsOfPerson, personOf } from '../../identity/store/personSql.ts'
import type { ListQuery } from '../../platform/clickhouse/client.ts'
import type { InterestPlan } from '../signals/interestPlan.ts'
import { peopleInterest } from '../signals/interestQuery.ts'
import { topicsColumn } from './topicQuery.ts'

const requestedHems = 'asked_hems'

/**
 * Selects, for each of `hems` whose person has interests: `hem`, and `topics` as JSON, the strongest first.
 */
export function batchQuery(plan: InterestPlan, hems: readonly string[]): ListQuery {
  const { bind, params } = bindings()
  const requested = `SELECT value AS hem, ${hemAsNumber('value')} AS hem_number FROM ${requestedHems}`
  // Materialized once, because several parts look up signals by it.
  const held = 'SELECT arrayJoin(held_hems) AS hem_number'
  const sql = `WITH (SELECT groupUniqArrayArray(${hemsOfPerson('hem_number')}) FROM (${requested})) AS held_hems
SELECT hem, topics
FROM (SELECT hem, ${personOf('hem_number')} AS member FROM (${requested})) AS asked
INNER JOIN (
SELECT member, ${topicsColumn} AS topics
FROM (
${peopleInterest(plan, bind, held)}
)
GROUP BY member
) AS found ON asked.member = found.member`
  return { sql, params, lists: { [requestedHems]: hems } }
}
