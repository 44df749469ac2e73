import type { Bind } from '../../events/query/bind.ts'
import { isSuppressed, suppressedPeople } from '../../events/query/profiles/suppressedPeople.ts'
import { personOf } from '../../identity/store/personSql.ts'
import { companyDomains } from '../../identity/store/profileSql.ts'
import { dateOf } from '../../platform/days.ts'
import type { InterestPlan } from './interestPlan.ts'
import { baselineDays, scoreOf } from './score.ts'
import { loadedSignals, type SignalSpan, signalsOf } from './signalsQuery.ts'

/**
 * SQL: one row for each person and topic with a signal within the window. `member` is the main hem number of
 * the person, with `topic`, `score`, `signals` and `last_seen`. `hems` is SQL that selects the only hem
 * numbers to read. Excludes people who have opted out with any address, or are being erased.
 */
export const peopleInterest = (plan: InterestPlan, bind: Bind, hems?: string): string =>
  scores(plan, bind, personSignals(plan, bind, hems))

/** The interest of companies, by domain: their own signals and those of their employees. */
export const companyInterest = (plan: InterestPlan, bind: Bind): string =>
  scores(
    plan,
    bind,
    `SELECT company_domain AS member, topic, date, strength, times
FROM (
${loadedSignals(spanOf(plan), bind)}
)
WHERE company_domain != ''
UNION ALL
SELECT company_domain AS member, topic, date, strength, times
FROM (
${personSignals(plan, bind)}
) AS of_people
INNER JOIN (
${companyDomains}
) AS work ON work._hem_number = of_people.hem_number`,
  )

/** Returns scores of rows with `member`, `topic`, `date`, `strength` and `times`. */
function scores({ today, windowDays }: InterestPlan, bind: Bind, signals: string): string {
  const from = `toDate(${bind('String', dateOf(today - windowDays + 1))})`
  return `SELECT member, topic, ${scoreOf('in_window', 'before', bind('UInt64', windowDays))} AS score, signals, last_seen
FROM (
SELECT member, topic, sumIf(strength, date >= ${from}) AS in_window, sumIf(strength, date < ${from}) AS before,
  sumIf(times, date >= ${from}) AS signals, maxIf(date, date >= ${from}) AS last_seen
FROM (
${signals}
)
GROUP BY member, topic
HAVING signals > 0
)`
}

/** Returns the signals of people, with `member` and each signal's `hem_number`. */
function personSignals(plan: InterestPlan, bind: Bind, hems?: string): string {
  const hidden = suppressedPeople(plan.organizationId, plan.erased, bind)
  return `SELECT ${personOf('hem_number')} AS member, hem_number, topic, date, strength, times
FROM (
${signalsOf(spanOf(plan), bind, hems)}
)
WHERE hem_number != 0 AND NOT ${isSuppressed('hem_number', hidden)}`
}

/** Returns the window and the twelve weeks before it. */
const spanOf = ({ organizationId, topics, today, windowDays }: InterestPlan): SignalSpan => ({
  organizationId,
  topics,
  firstDay: today - windowDays - baselineDays + 1,
  lastDay: today,
})
