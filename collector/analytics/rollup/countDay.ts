import type { ClickHouse, Query } from '../../platform/clickhouse/client.ts'
import { bindings } from '../../query/bind.ts'
import { restMs } from '../../query/sessions.ts'
import { conditions } from '../../query/where.ts'
import { dayMs } from '../../query/window.ts'
import { dimensionColumns, groupingSets } from '../breakdownQuery.ts'
import type { AnalyticsPlan } from '../plan.ts'
import { sessionPages, untilNext } from '../sessionsQuery.ts'
import { pathOf, sessionsSql } from '../sessionsSql.ts'
import { rolledFields, wholeDay } from './eventFigures.ts'
import type { CountedThing } from './runs.ts'
import { joinNumbers, numberVisitors } from './visitorNumbers.ts'

/** A project whose days are counted. */
interface Project {
  readonly organizationId: string
  readonly projectId: string
}

/** The job leaves processors and time to readers; what it began ends soon after it, so that two never run at once. */
const settings = `SETTINGS max_threads = 1, os_thread_priority = 19, max_execution_time = 200,
  max_memory_usage = ${2 * 1024 ** 3}, max_bytes_before_external_group_by = ${512 * 1024 ** 2}`

type Count = (clickhouse: ClickHouse, project: Project, day: number, runId: string) => Promise<void>

/** Counts a day, as rows of a run that nobody reads before it is noted. */
export const count: Record<CountedThing, Count> = { events: countEvents, sessions: countSessions }

/** All events of pixels from one day to another, the end exclusive. */
export const planOf = (
  { organizationId, projectId }: Project,
  fromDay: number,
  endDay: number,
): AnalyticsPlan => ({
  ...{ source: 'pixel', filters: [], window: { startMs: fromDay * dayMs, endMs: endDay * dayMs } },
  scope: { organizationId, projectId, pixelId: null, campaignId: null },
})

async function countEvents(
  clickhouse: ClickHouse,
  project: Project,
  day: number,
  runId: string,
): Promise<void> {
  const plan = planOf(project, day, day + 1)
  await numberVisitors(clickhouse, project, plan.window, settings)
  const { bind, params } = bindings()
  const where = conditions(plan, bind).join('\n  AND ')
  const projectId = bind('UUID', project.projectId)
  await clickhouse.command({
    sql: `INSERT INTO analytics_days (project_id, date, run_id, dimension, value, events, page_views, visitors)
SELECT ${projectId}, ${dateSql(bind('Int64', day))}, ${bind('UUID', runId)}, ${dimensionColumns(rolledFields).join(', ')},
  count(), countIf(event_type = 'page_view'), groupBitmapState(number)
FROM events ${joinNumbers('cookie_id', projectId, `SELECT cookie_id FROM events WHERE ${where}`)}
WHERE ${where}${groupingSets(rolledFields, '()')}
${settings}, force_grouping_standard_compatibility = 1`,
    params,
  })
}

async function countSessions(
  clickhouse: ClickHouse,
  project: Project,
  day: number,
  runId: string,
): Promise<void> {
  // As far back as a session that closes on the day may have begun.
  const plan = planOf(project, day - 2, day + 1)
  await numberVisitors(clickhouse, project, { ...plan.window, startMs: day * dayMs - restMs }, settings)
  await clickhouse.command(sessionTotalsInsert(plan, day, runId))
  await clickhouse.command(sessionPagesInsert(plan, day, runId))
}

function sessionTotalsInsert(plan: AnalyticsPlan, day: number, runId: string): Query {
  const { bind, params } = bindings()
  const sessions = sessionsSql(plan, bind, { closedOn: [{ first: day, end: day + 1 }] })
  const dayOf = (event: string) => `intDiv(${sessions.form.millis(event)}, ${dayMs})`
  const rows = `arrayConcat([(${dayOf('_session[-1]')}, 1, notEmpty(_views), length(_views) = 1, toInt64(0))],
    arrayMap((view, ms) -> (${dayOf('view')}, 0, false, false, ms), _views, ${untilNext(sessions)}))`
  return {
    sql: `INSERT INTO analytics_session_days
  (project_id, date, run_id, dimension, since, sessions, viewing_sessions, bounced_sessions, page_ms)
SELECT ${bind('UUID', plan.scope.projectId!)}, ${dateSql(bind('Int64', day))}, ${bind('UUID', runId)}, '${wholeDay}',
  ${dateSql('row.1')} AS since_day, sum(row.2), sum(row.3), sum(row.4), sum(row.5)
FROM (
${sessions.sql}
)
ARRAY JOIN ${rows} AS row
GROUP BY since_day
${settings}`,
    params,
  }
}

function sessionPagesInsert(plan: AnalyticsPlan, day: number, runId: string): Query {
  const { bind, params } = bindings()
  const { sql, form } = sessionsSql(plan, bind, { hasPaths: true, closedOn: [{ first: day, end: day + 1 }] })
  const projectId = bind('UUID', plan.scope.projectId!)
  const pages = Object.entries(sessionPages).map(([page, event]) => `('${page}', ${pathOf(event)})`)
  const cookies = `SELECT cookie_id FROM events WHERE ${conditions(plan, bind).join(' AND ')}`
  return {
    sql: `INSERT INTO analytics_session_days (project_id, date, run_id, dimension, since, value, sessions, visitors)
SELECT ${projectId}, ${dateSql(bind('Int64', day))}, ${bind('UUID', runId)}, page.1,
  ${dateSql(`intDiv(${form.millis('_session[-1]')}, ${dayMs})`)} AS since_day, page.2, count(), groupBitmapState(number)
FROM (
${sql}
) AS sessions ${joinNumbers('_cookie_id', projectId, cookies)}
ARRAY JOIN [${pages.join(', ')}] AS page
WHERE notEmpty(_views)
GROUP BY page.1, page.2, since_day
${settings}`,
    params,
  }
}

/** SQL: the date of a day since 1970. */
const dateSql = (day: string): string => `toDate(toUInt16(${day}))`
