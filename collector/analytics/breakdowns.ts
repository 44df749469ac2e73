import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import { sessionFieldNames } from '../events/query/sessionFields.ts'
import { type BreakdownAsked, type BreakdownRow, breakdownsQuery } from './breakdownQuery.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import type { GoalCounts } from './goalColumns.ts'
import { conditionsOf, type Goal, type Revenue, revenueOf } from './goals.ts'
import {
  isStoredDimension,
  isStoredGoal,
  rolledFields,
  rolledSessionFields,
  storedSessionFields,
} from './rollup/countedFields.ts'
import { type RolledDays, type Rollup, readRollup } from './rollup/rolledDays.ts'
import {
  type SessionPage,
  type SessionPageRow,
  type SessionValueRow,
  sessionBreakdownsQuery,
  sessionPages,
  sessionPagesQuery,
} from './sessionsQuery.ts'
import { selectsSessions } from './sessionsSql.ts'
import { hasCandidates, readTopValues } from './topValues.ts'

export type Breakdowns = Record<string, { values: Value[]; has_more: boolean }>

interface Value {
  value: string | null
  visitors: number
  events: number | null
  page_views: number | null
  sessions: number | null
  goal: { events: number; visitors: number; rate: number; revenue: Revenue | null } | null
}

/** The parameters for reading values. */
interface Asked {
  /** Most values of each dimension. */
  readonly limit: number
  /** Counts of days, if these include the dimensions. */
  readonly rolled?: RolledDays | null
  /** Rows of `counted_sessions`, if these include the dimensions and the goal. */
  readonly rows?: RolledDays | null
  /** The goal whose conversions each value has; not together with counts of days. */
  readonly goal?: Goal | null
}

const isSessionPage = (name: string): name is SessionPage => Object.hasOwn(sessionPages, name)

/** Reads the top values of these dimensions, from counts of days where possible. */
export async function readBreakdowns(
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
  dimensions: readonly string[],
  asked: Omit<Asked, 'rolled' | 'rows'>,
): Promise<Breakdowns> {
  const { ofSessions, ofEvents } = countsFor(plan, await readRollup(queryExecutor, plan), asked)
  const [sessionFields, eventFields] = [
    dimensions.filter((name) => sessionFieldNames.includes(name)),
    dimensions.filter((name) => !sessionFieldNames.includes(name)),
  ]
  const parts = await Promise.all([
    ...byCounts(eventFields, ofEvents).map(([counts, names]) =>
      readFields(queryExecutor, plan, names, { ...asked, ...counts }),
    ),
    ...byCounts(
      sessionFields.filter((name) => !isSessionPage(name)),
      ofSessions,
    ).map(([counts, names]) =>
      readSessionFields(queryExecutor, plan, names, { ...asked, ...counts }),
    ),
    ...sessionFields
      .filter(isSessionPage)
      .map((page) =>
        readSessionPages(queryExecutor, plan, page, { ...asked, ...ofSessions(page) }),
      ),
  ])
  return Object.assign({}, ...parts)
}

type Counts = Pick<Asked, 'rolled' | 'rows'>
const noCounts: Counts = {}

/**
 * Returns what a dimension's values can be read from: counts of days, or rows of sessions with filters or a goal. Other
 * values are read from events.
 */
function countsFor(
  plan: AnalyticsPlan,
  { events, sessions, rows }: Rollup,
  { goal }: Asked,
): Record<'ofSessions' | 'ofEvents', (name: string) => Counts> {
  const ofDays: Counts = { rolled: events }
  const ofDaySessions: Counts = { rolled: sessions }
  const ofRows: Counts = { rows }
  const needsRows = goal || selectsSessions(plan)
  const hasRows = plan.filters.length === 0 && (!goal || isStoredGoal(conditionsOf(goal)))
  return {
    ofSessions(name) {
      if (needsRows) return hasRows && storedSessionFields.includes(name) ? ofRows : noCounts
      return rolledSessionFields.includes(name) || isSessionPage(name) ? ofDaySessions : noCounts
    },
    ofEvents(name) {
      if (goal) return noCounts
      if (events && rolledFields.includes(name)) return ofDays
      return isStoredDimension(name) ? ofRows : noCounts
    },
  }
}

/** Groups dimensions by the counts that have them, so that one query reads each group. */
function byCounts(
  names: readonly string[],
  countsOf: (name: string) => Counts,
): [Counts, string[]][] {
  const groups = new Map<Counts, string[]>()
  for (const name of names) {
    const counts = countsOf(name)
    groups.set(counts, [...(groups.get(counts) ?? []), name])
  }
  return [...groups]
}

/** Reads the values of each session field with the most visitors. */
export async function readSessionFields(
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
  fields: readonly string[],
  asked: Asked,
): Promise<Breakdowns> {
  if (fields.length === 0) return {}
  const rows = await queryExecutor.rows<SessionValueRow>(
    sessionBreakdownsQuery(plan, fields, queried(asked)),
  )
  return byDimension(fields, rows, asked)
}

/** Reads the values of each event field with the most visitors. */
export async function readFields(
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
  fields: readonly string[],
  asked: Asked,
): Promise<Breakdowns> {
  if (fields.length === 0) return {}
  const { rolled, limit } = asked
  const rows =
    rolled && hasCandidates(rolled, limit)
      ? await readTopValues(queryExecutor, plan, fields, { ...queried(asked), rolled })
      : await queryExecutor.rows<BreakdownRow>(breakdownsQuery(plan, fields, queried(asked)))
  return byDimension(
    fields,
    rows.map((row) => ({ ...row, sessions: null })),
    asked,
  )
}

async function readSessionPages(
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
  page: SessionPage,
  asked: Asked,
): Promise<Breakdowns> {
  const rows = await queryExecutor.rows<SessionPageRow>(
    sessionPagesQuery(plan, page, queried(asked)),
  )
  return byDimension(
    [page],
    rows.map((row) => ({ ...row, dimension: page, events: null, page_views: null })),
    asked,
  )
}

type ValueRow = Omit<Value, 'goal'> & { dimension: string } & Partial<GoalCounts>

function byDimension(
  fields: readonly string[],
  rows: readonly ValueRow[],
  { limit, goal = null }: Asked,
): Breakdowns {
  return Object.fromEntries(
    fields.map((field) => {
      const ofField = rows.filter(({ dimension }) => dimension === field)
      return [
        field,
        {
          values: ofField.slice(0, limit).map((row) => countsOfRow(row, goal)),
          has_more: ofField.length > limit,
        },
      ]
    }),
  )
}

function countsOfRow(row: ValueRow, goal: Goal | null): Value {
  const { dimension: _, goal_events = 0, goal_visitors = 0, goal_value = 0, ...counts } = row
  return {
    ...counts,
    goal: goal && {
      events: goal_events,
      visitors: goal_visitors,
      rate: goal_visitors / counts.visitors,
      revenue: revenueOf(goal, goal_value),
    },
  }
}

const queried = (asked: Asked): BreakdownAsked => ({
  ...asked,
  goal: asked.goal ? conditionsOf(asked.goal) : null,
})
