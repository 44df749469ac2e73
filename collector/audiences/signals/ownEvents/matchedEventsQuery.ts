import type { Bind } from '../../../events/query/bind.ts'
import { likePattern } from '../../../events/query/filterSql.ts'
import { dayMs } from '../../../events/query/window.ts'
import type { Rule } from '../rules.ts'

/** Events of some days of an organization's projects, and the rules that say what they are about. */
export interface MatchedEventsPlan {
  readonly organizationId: string
  readonly projectIds: readonly string[]
  readonly rules: readonly Rule[]
  /** Days since 1970 (UTC), ascending. */
  readonly days: readonly number[]
}

/**
 * SQL: how many events of each day and cookie are about each topic: `topic`, `date`, `cookie_id`, `events`. An event
 * counts once for a topic, however many rules say so; what bots do counts for nothing.
 */
export function matchedEventsSelect(
  { organizationId, projectIds, rules, days }: MatchedEventsPlan,
  bind: Bind,
): string {
  const topics = rules.map(
    (rule) => `if(${ruleCondition(rule, bind)}, ${bind('String', rule.topic)}, '')`,
  )
  return `SELECT topic, toDate(toUInt16(intDiv(ts_millis, ${dayMs}))) AS date, cookie_id, count() AS events
FROM events
ARRAY JOIN arrayDistinct([${topics.join(', ')}]) AS topic
WHERE organization_id = ${bind('UUID', organizationId)} AND project_id IN ${bind('Array(UUID)', projectIds)}
  AND ts_millis >= ${bind('Int64', days[0]! * dayMs)} AND ts_millis < ${bind('Int64', (days.at(-1)! + 1) * dayMs)}
  AND intDiv(ts_millis, ${dayMs}) IN ${bind('Array(Int64)', days)}
  AND event_type IN ('page_view', 'search') AND source = 'pixel' AND NOT is_bot AND topic != ''
GROUP BY topic, date, cookie_id`
}

/** Searches match search terms; page views match everything else. ILIKE takes time in line with the text. */
function ruleCondition({ host, path, title, search }: Rule, bind: Bind): string {
  const like = (column: string, pattern: string | undefined) =>
    pattern === undefined
      ? []
      : [`ifNull(${column} ILIKE ${bind('String', likePattern(pattern))}, false)`]
  return [
    `event_type = '${search === undefined ? 'page_view' : 'search'}'`,
    ...like('page_host', host),
    ...like('page_path', path),
    ...like("JSONExtractString(event_data, 'title')", title),
    ...like("JSONExtractString(event_data, 'query')", search),
  ].join(' AND ')
}
