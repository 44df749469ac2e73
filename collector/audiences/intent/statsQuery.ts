import { bindings } from '../../events/query/bind.ts'
import { isSuppressed, suppressedPeople } from '../../events/query/profiles/suppressedPeople.ts'
import { personOf } from '../../identity/store/personSql.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { type SignalSpan, signalsOf } from '../signals/signalsQuery.ts'

/** Signals of each day, or of each day and topic. */
export interface StatsPlan extends SignalSpan {
  readonly isPerTopic: boolean
  /** Hems of people whom the organization is erasing. */
  readonly erased: readonly string[]
}

/** Selects the numbers of signals, people and companies per day, earliest first, without people who opted out. */
export function statsQuery(plan: StatsPlan): Query {
  const { bind, params } = bindings()
  const columns = plan.isPerTopic ? ['date', 'topic'] : ['date']
  const hidden = suppressedPeople(plan.organizationId, plan.erased, bind)
  const sql = `SELECT ${columns.map((name) => `toString(${name}) AS ${name}`).join(', ')}, sum(times) AS signals,
  uniqExactIf(member, hem_number != 0) AS people, uniqExactIf(company_domain, company_domain != '') AS companies${plan.isPerTopic ? '' : ', uniqExact(topic) AS topics'}
FROM (
SELECT ${personOf('hem_number')} AS member, hem_number, company_domain, topic, date, times
FROM (
${signalsOf(plan, bind)}
)
WHERE NOT ${isSuppressed('hem_number', hidden)}
)
GROUP BY ${columns.join(', ')}
ORDER BY ${columns.join(', ')}`
  return { sql, params }
}
