import type { Bind } from '../../../events/query/bind.ts'
import { likePattern } from '../../../events/query/filter/filterSql.ts'
import { dayMs } from '../../../events/query/window/window.ts'
import type { Rule } from '../rules.ts'

/** Events of an organization's projects on some days, and the rules that assign them to topics. */
export interface MatchedEventsPlan {
  readonly organizationId: string
  readonly projectIds: readonly string[]
  readonly rules: readonly Rule[]
  /** Days since 1970 (UTC), ascending. */
  readonly days: readonly number[]
}

/**
 * Returns SQL that counts the events of each topic, day and cookie: `topic`, `date`, `cookie_id`, `events`.
 * An event counts once for a topic, even if several rules match; events of bots do not count.
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

/**
 * Searches match search terms; page views match all other patterns. The time of ILIKE grows linearly with the
 * text.
 */
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
