import { createHash } from 'node:crypto'
import { type Bind, bindings } from '../../../events/query/bind.ts'
import { readDayFingerprints } from '../../../events/query/dayFingerprints.ts'
import { likePattern } from '../../../events/query/filter/filterSql.ts'
import type { ClickHouse } from '../../../platform/clickhouse/client.ts'
import { deleteRows } from '../../../platform/clickhouse/deleteRows.ts'
import { dayMs } from '../../../platform/days.ts'
import type { Postgres } from '../../../platform/postgres/pool.ts'
import { uuidV7 } from '../../../platform/uuidV7.ts'
import { windowDaysMax } from '../interestPlan.ts'
import { type Rule, readRules } from '../rules.ts'
import { baselineDays } from '../score.ts'
import { noteRuns, type Run, readRuns } from './runs.ts'

/** The most days that one statement counts, so that each statement is short. */
const daysAtOnce = 7

const settings = `SETTINGS max_memory_usage = ${1024 ** 3}, max_execution_time = 100,
  max_bytes_before_external_group_by = ${256 * 1024 ** 2}`

/**
 * Counts an organization's own events by topic, according to its rules, by cookie and day. It counts days
 * whose events or rules have changed since the last count. Readers see a day's old counts until all new ones
 * exist. May be repeated at any time.
 */
export async function countOwnEvents(
  { postgres, clickhouse }: { postgres: Postgres; clickhouse: ClickHouse },
  organizationId: string,
  nowMs = Date.now(),
): Promise<void> {
  const today = Math.floor(nowMs / dayMs)
  const fromDay = today - windowDaysMax - baselineDays + 1
  const { rules } = await readRules(postgres, organizationId)
  const projectIds = rules.length > 0 ? await readProjects(postgres, organizationId) : []
  const stale = await findStaleRuns(clickhouse, {
    organizationId,
    projectIds,
    rules,
    fromDay,
    today,
  })
  for (let from = 0; from < stale.length; from += daysAtOnce) {
    const runs = stale.slice(from, from + daysAtOnce)
    const runId = uuidV7()
    const withEvents = runs.filter(({ fingerprint }) => fingerprint !== nothing)
    if (withEvents.length > 0) {
      const { bind, params } = bindings()
      const days = withEvents.map(({ day }) => day)
      await clickhouse.command({
        sql: `INSERT INTO intent_event_days (organization_id, topic, date, run_id, cookie_id, events)
SELECT ${bind('UUID', organizationId)}, topic, date, ${bind('UUID', runId)}, cookie_id, events
FROM (
${matchedEventsSelect({ organizationId, projectIds, rules, days }, bind)}
)
${settings}`,
        params,
      })
    }
    await noteRuns(clickhouse, organizationId, runId, runs)
  }
}

/** The fingerprint of a day without events, or without rules. */
const nothing = ''

interface Counted {
  readonly organizationId: string
  readonly projectIds: readonly string[]
  readonly rules: readonly Rule[]
  readonly fromDay: number
  readonly today: number
}

/** The days to count, with their new state. Read it before the events. */
async function findStaleRuns(
  clickhouse: ClickHouse,
  { organizationId, projectIds, rules, fromDay, today }: Counted,
): Promise<Run[]> {
  const ofRules = createHash('sha256').update(JSON.stringify(rules)).digest('hex').slice(0, 32)
  const events =
    projectIds.length > 0
      ? await readDayFingerprints(clickhouse, projectIds, fromDay, today)
      : new Map<number, string>()
  const known = new Map(
    (await readRuns(clickhouse, organizationId, fromDay)).map(({ day, fingerprint }) => [
      day,
      fingerprint,
    ]),
  )
  const fingerprintOf = (day: number) =>
    events.has(day) ? `${ofRules} ${events.get(day)}` : nothing
  return [...new Set([...events.keys(), ...known.keys()])]
    .sort((one, other) => one - other)
    .map((day) => ({ day, fingerprint: fingerprintOf(day) }))
    .filter(({ day, fingerprint }) => known.get(day) !== fingerprint)
}

async function readProjects(postgres: Postgres, organizationId: string): Promise<string[]> {
  const { rows } = await postgres.query<{ project_id: string }>(
    'SELECT project_id FROM projects WHERE organization_id = $1',
    [organizationId],
  )
  return rows.map(({ project_id }) => project_id)
}

export async function deleteOldCounts(clickhouse: ClickHouse): Promise<void> {
  await deleteRows(clickhouse, 'intent_event_days', {
    sql: `counted_at < now() - INTERVAL 1 HOUR AND (organization_id, date, run_id) NOT IN
      (SELECT organization_id, date, run_id FROM intent_event_runs FINAL)`,
    params: {},
  })
}

/** Events of an organization's projects on some days, and the rules that assign them to topics. */
interface MatchedEventsPlan {
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
function matchedEventsSelect(
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

/** Searches match search terms; page views match all other patterns. */
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
