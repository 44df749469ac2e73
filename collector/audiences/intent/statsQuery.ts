import { bindings } from '../../events/query/bind.ts'
import { everywhere, isSuppressed, suppressedPeople } from '../../events/query/suppressedPeople.ts'
import { personOf } from '../../identity/store/personSql.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { loadedSignals, ownSignals, type SignalSpan } from '../signals/signalsQuery.ts'

/** Signals of each day, or of each day and topic. */
export interface StatsPlan extends SignalSpan {
  readonly isPerTopic: boolean
  /** Hems of people who are being erased everywhere. */
  readonly erased: readonly string[]
}

/**
 * Selects the numbers of signals, people and companies per day, earliest first, without people who opted out
 * everywhere. For the organization's own events it returns only signals, because the identity of visitors is
 * not free (query/freeAnswers.ts).
 */
export function statsQuery(plan: StatsPlan): Query {
  const { bind, params } = bindings()
  const columns = plan.isPerTopic ? ['date', 'topic'] : ['date']
  const hidden = suppressedPeople(everywhere, plan.erased, bind)
  const sql = `SELECT ${columns.map((name) => `toString(${name}) AS ${name}`).join(', ')}, sum(times) AS signals,
  uniqExactIf(member, hem_number != 0) AS people, uniqExactIf(company_domain, company_domain != '') AS companies${plan.isPerTopic ? '' : ', uniqExact(topic) AS topics'}
FROM (
SELECT ${personOf('hem_number')} AS member, hem_number, company_domain, topic, date, times
FROM (
${loadedSignals(plan, bind)}
)
WHERE NOT ${isSuppressed('hem_number', hidden)}
UNION ALL
SELECT toUInt256(0) AS member, toUInt256(0) AS hem_number, company_domain, topic, date, times
FROM (
${ownSignals(plan, bind)}
)
)
GROUP BY ${columns.join(', ')}
ORDER BY ${columns.join(', ')}`
  return { sql, params }
}
