import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import { sessionFieldNames } from '../events/query/sessionFields.ts'
import { type BreakdownAsked, type BreakdownRow, breakdownsQuery } from './breakdownQuery.ts'
import type { AnalyticsPlan } from './figuresRequest.ts'
import type { GoalCounts } from './goalColumns.ts'
import { conditionsOf, type Goal, type Revenue, revenueOf } from './goals.ts'
import { rolledFields, rolledSessionFields } from './rollup/countedFields.ts'
import { type RolledDays, readRollup } from './rollup/rolledDays.ts'
import {
  type SessionPage,
  type SessionPageRow,
  type SessionValueRow,
  sessionBreakdownsQuery,
  sessionPages,
  sessionPagesQuery,
} from './sessionsQuery.ts'

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
  /** The goal whose conversions each value has; not together with counts of days. */
  readonly goal?: Goal | null
}

const isSessionPage = (name: string): name is SessionPage => Object.hasOwn(sessionPages, name)

/** Reads the top values of these dimensions, from counts of days where possible. */
export async function readBreakdowns(
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
  dimensions: readonly string[],
  asked: Omit<Asked, 'rolled'>,
): Promise<Breakdowns> {
  const { events, sessions } = asked.goal
    ? { events: null, sessions: null }
    : await readRollup(queryExecutor, plan)
  const ofPages = dimensions.filter(isSessionPage)
  const ofSessions = dimensions.filter(
    (name) => sessionFieldNames.includes(name) && !isSessionPage(name),
  )
  const ofEvents = dimensions.filter((name) => !sessionFieldNames.includes(name))
  const isCounted = (name: string) => sessions !== null && rolledSessionFields.includes(name)
  const isRolled = (name: string) => events !== null && rolledFields.includes(name)
  const fields = (names: string[], rolled: RolledDays | null) =>
    readFields(queryExecutor, plan, names, { ...asked, rolled })
  const fieldsOfSessions = (names: string[], rolled: RolledDays | null) =>
    readSessionFields(queryExecutor, plan, names, { ...asked, rolled })
  const parts = await Promise.all([
    fields(ofEvents.filter(isRolled), events),
    fields(
      ofEvents.filter((name) => !isRolled(name)),
      null,
    ),
    fieldsOfSessions(ofSessions.filter(isCounted), sessions),
    fieldsOfSessions(
      ofSessions.filter((name) => !isCounted(name)),
      null,
    ),
    ...ofPages.map((page) =>
      readSessionPages(queryExecutor, plan, page, { ...asked, rolled: sessions }),
    ),
  ])
  return Object.assign({}, ...parts)
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
  const rows = await queryExecutor.rows<BreakdownRow>(breakdownsQuery(plan, fields, queried(asked)))
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
