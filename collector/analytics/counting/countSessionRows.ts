import { bindings } from '../../events/query/bind.ts'
import {
  sampleOf,
  selectionConditions,
  sessionFieldSql,
} from '../../events/query/filter/filterSql.ts'
import { millisOf } from '../../events/query/sessionSplit.ts'
import { dayOfSql } from '../../events/query/window/localDays.ts'
import type { ClickHouse, Query } from '../../platform/clickhouse/client.ts'
import type { AnalyticsPlan } from '../figuresRequest.ts'
import { storedSessionFields } from '../rollup/countedFields.ts'
import { joinNumbers, type Numbering, numberVisitors } from '../rollup/visitorNumbers.ts'
import { dateSql, daysOfSessions, figuresOfRows } from '../sessionRows.ts'
import { sessionsSql } from '../sessionsSql.ts'
import { type StoredEventColumn, storedArray, storedEventColumns } from '../storedEvents.ts'
import {
  type Counting,
  closedOn,
  closingHour,
  latelyPlan,
  nearby,
  type Project,
  runSql,
  sessionsPlan,
  settings,
  windowOf,
} from './spansOfRuns.ts'

/** Counts a day, or hours of it, as rows of sessions in `counted_sessions`. */
export async function countSessionRows(
  clickhouse: ClickHouse,
  project: Project,
  day: number,
  counted: readonly Counting[],
): Promise<Numbering> {
  const window = windowOf(counted)
  const sessions = sessionsPlan(project, day, window.endMs, 'excluded')
  const lately = latelyPlan(project, window, 'included')
  const numbering = await numberVisitors(clickhouse, project, lately.window, settings)
  for (const bots of ['excluded', 'included'] as const)
    await clickhouse.command(sessionRowsInsert(sessions, lately, { day, counted, bots }))
  return numbering
}

/**
 * Selects the sessions without events of bots. With `bots` included, those of visitors with events of bots, which may
 * join other sessions.
 */
function sessionRowsInsert(
  plan: AnalyticsPlan,
  lately: AnalyticsPlan,
  {
    day,
    counted,
    bots,
  }: { day: number; counted: readonly Counting[]; bots: 'excluded' | 'included' },
): Query {
  const { bind, params } = bindings()
  const ofBots = `SELECT cookie_id FROM events WHERE ${selectionConditions({ ...plan, bots: 'only' }, bind).join(' AND ')}`
  const columnNames = Object.keys(storedEventColumns) as StoredEventColumn[]
  const sessions = sessionsSql({ ...plan, bots }, bind, {
    fields: storedSessionFields,
    eventColumns: Object.values(storedEventColumns),
    visitors: bots === 'included' ? [`cookie_id IN (${ofBots})`] : [],
    closedOn: closedOn(counted),
  })
  const dayOf = (event: string) =>
    dayOfSql(millisOf(event), plan.zone, nearby(day, plan.zone), bind)
  const { columns, join } = daysOfSessions(sessions, dayOf, {
    events: '_session',
    counts: () => 'true',
  })
  const projectId = bind('UUID', plan.scope.projectId!)
  const cookies = `SELECT cookie_id FROM events WHERE ${selectionConditions(lately, bind).join(' AND ')}`
  const fields = storedSessionFields.map(sessionFieldSql)
  const arrays = {
    [storedArray('day')]:
      `arrayMap(event -> ${dateSql(dayOf('event'))}, if(row.2, _session, arraySlice(_session, 1, 0)) AS _met)`,
    [storedArray('event_ms')]: `arrayMap(event -> ${millisOf('event')}, _met)`,
    ...Object.fromEntries(
      columnNames.map((name, index) => [
        storedArray(name),
        `arrayMap(event -> ${sessions.columnOf('event', index)}, _met)`,
      ]),
    ),
  }
  return {
    sql: `INSERT INTO counted_sessions (project_id, date, run_id, since, bots, number, sample,
  ${[...figuresOfRows, ...fields, ...Object.keys(arrays)].join(', ')})
SELECT ${projectId}, ${dateSql(bind('Int64', day))}, ${runSql(closingHour(millisOf('_session[-1]')), counted, bind)},
  ${dateSql('row.1')}, ${bots === 'included' ? "'included'" : `if(_cookie_id IN (${ofBots}), 'excluded', 'any')`}, number, ${sampleOf('number')},
  ${[columns, ...fields, ...Object.values(arrays)].join(',\n  ')}
FROM (
${sessions.sql}
) AS sessions ${joinNumbers('_cookie_id', projectId, cookies)}
${join}
${settings}`,
    params,
  }
}
