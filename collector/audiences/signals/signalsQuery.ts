import { hemNumber } from '../../../schemas/fields.ts'
import type { Bind } from '../../events/query/bind.ts'
import { dateOf } from '../../platform/days.ts'
import { eventStrength } from './score.ts'

/** The signals of some days that an organization may see. */
export interface SignalSpan {
  readonly organizationId: string
  /** Null: all topics of the vocabulary. */
  readonly topics: readonly string[] | null
  /** Since 1970 (UTC), both inclusive. */
  readonly firstDay: number
  readonly lastDay: number
}

/** SQL: all signals that an organization may see, in the columns of loadedSignals. */
export const signalsOf = (span: SignalSpan, bind: Bind, hems?: string): string =>
  `${loadedSignals(span, bind, hems)}
UNION ALL
${ownSignals(span, bind, hems)}`

/**
 * SQL: the signals that the operator loaded. `hem_number` is 0 for a company, and `company_domain` is empty
 * for a person. Further columns are `topic`, `date`, `strength` (0 to 100 for each signal) and `times`, the
 * number of signals. With `hems`, SQL that selects hem numbers, it reads only these people, from another
 * table.
 */
export function loadedSignals(span: SignalSpan, bind: Bind, hems?: string): string {
  const columns = `topic, date, toUInt64(score) AS strength, toUInt64(1) AS times`
  const where = conditions(span, bind).join(' AND ')
  if (hems === undefined) {
    return `SELECT hem_number, company_domain, ${columns} FROM intent_signals FINAL WHERE ${where}`
  }
  return `SELECT hem_number, '' AS company_domain, ${columns} FROM intent_signals_by_person FINAL
WHERE hem_key IN (SELECT toUInt64(hem_number) FROM (${hems})) AND hem_number IN (${hems}) AND ${where}`
}

/**
 * Returns SQL of the signals from the organization's own events, by the current person of their cookies (0:
 * anonymous). With `hems` it reads only these people.
 */
function ownSignals(span: SignalSpan, bind: Bind, hems?: string): string {
  const organization = bind('UUID', span.organizationId)
  const where = conditions(span, bind).join(' AND ')
  return `SELECT ${hemNumber} AS hem_number, '' AS company_domain, topic, date, events * ${eventStrength} AS strength, events AS times
FROM intent_event_days
WHERE organization_id = ${organization} AND ${where}
  AND (date, run_id) IN (SELECT date, run_id FROM intent_event_runs FINAL WHERE organization_id = ${organization})
  ${hems === undefined ? '' : `AND ${hemNumber} IN (${hems})`}`
}

function conditions({ topics, firstDay, lastDay }: SignalSpan, bind: Bind): string[] {
  const [first, last] = [firstDay, lastDay].map((day) => `toDate(${bind('String', dateOf(day))})`)
  return [
    ...(topics === null ? [] : [`topic IN ${bind('Array(String)', topics)}`]),
    `date BETWEEN ${first} AND ${last}`,
  ]
}
