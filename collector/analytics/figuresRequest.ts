import { type Static, Type } from 'typebox'
import { fieldNamed } from '../../schemas/fields.ts'
import type { RequestedScope } from '../api/access/policy.ts'
import { Choice } from '../api/http/commonSchemas.ts'
import { ApiError, invalidParameter } from '../api/http/errors.ts'
import {
  EventFilterText,
  type FieldOf,
  type Filter,
  readFilters,
} from '../events/query/filter/filter.ts'
import type { Bots, Selection } from '../events/query/filter/selection.ts'
import { placeQuery, readScope, type ScopedRequest } from '../events/query/scopeQuery.ts'
import { sessionFieldNamed, sessionFieldNames } from '../events/query/sessionFields.ts'
import {
  daysEarlier,
  Milliseconds,
  readWindowOfDays,
  type Window,
  windowQuery,
} from '../events/query/window/window.ts'
import { dayMs } from '../platform/days.ts'
import { type TimeZone, timeZone, timeZoneFault } from '../platform/timeZone.ts'

const daysDefault = 30
const daysMax = 731

/** The events of figures: those captured by pixels, with any filters. */
export interface AnalyticsPlan extends Selection {
  readonly source: 'pixel'
  readonly bots: Bots
  /** Filters on session fields (sessionFields.ts): events of matching sessions. */
  readonly sessionFilters?: readonly Filter[]
  /** The time zone of days and other intervals. */
  readonly zone: TimeZone
}

/** The parameter of all analytics routes that includes bots. */
export const IncludeBots = Type.Optional(
  Type.Boolean({
    default: false,
    examples: [true],
    description: 'Includes events with `is_bot`. By default they are excluded, also from sessions.',
  }),
)

/** The parameter `filter` of analytics; filters on session fields select sessions. */
export const FiguresFilterText = Type.Unsafe<string>({
  ...EventFilterText,
  description:
    'Comma-separated field:op:value, all of which must match. The grammar is that of `filter` of goals. Filters on ' +
    `${sessionFieldNames.join(', ')} select sessions, and all events of these sessions in the window count. Filters ` +
    'on other event fields select events.',
})

/** The common parameters of all analytics routes. */
export const selectionQuery = {
  ...placeQuery,
  ...windowQuery,
  start_ms: Type.Optional(
    Milliseconds(
      `First millisecond of the window since 1970. Default: ${daysDefault} days before its end.`,
    ),
  ),
  time_zone: Type.Optional(
    Type.String({
      description:
        'IANA time zone of days, hours, weeks and months, and of dates in start_time and end_time. Default: the time ' +
        'zone of the project, or UTC without one.',
      examples: ['Europe/Berlin'],
    }),
  ),
  filter: Type.Optional(FiguresFilterText),
  include_bots: IncludeBots,
}

/** The parameter of routes that also return the previous period. */
export const Compare = Choice(['previous'], {
  description:
    'Also returns the previous period. It is the window, moved back by its length in complete days, ' +
    'so that it compares the same times of day.',
})

const SelectionQuery = Type.Object(selectionQuery)

/** A request without its scope, which only the principal determines. */
export interface AskedFigures {
  readonly asked: RequestedScope
  readonly selected: Pick<AnalyticsPlan, 'source' | 'filters' | 'sessionFilters' | 'bots'>
  /** Null: the zone of the project. */
  readonly zone: TimeZone | null
  /** Reads the window, where dates are local. Throws 400 that names the parameter. */
  readonly windowIn: (zone: TimeZone) => Window
}

/**
 * Reads the parameters of a request for figures. Throws 400 that names the parameter. It refuses windows of
 * more than two years, and filters on identity fields.
 */
export function readFiguresRequest(
  request: ScopedRequest<Static<typeof SelectionQuery>>,
  nowMs: number,
): AskedFigures {
  const { query } = request
  return {
    asked: readScope(request),
    selected: {
      source: 'pixel',
      ...readFiguresFilters(query.filter),
      bots: query.include_bots ? 'included' : 'excluded',
    },
    zone: query.time_zone === undefined ? null : readTimeZone(query.time_zone),
    windowIn: (zone) => readWindowOfDays(query, nowMs, { daysDefault, daysMax, zone }),
  }
}

function readTimeZone(name: string): TimeZone {
  const zone = timeZone(name)
  if (zone) return zone
  throw invalidParameter('time_zone', timeZoneFault)
}

/** Reads a filter of figures, which may be absent: fields of sessions select sessions, the others events. */
export function readFiguresFilters(
  text: string | undefined,
): Pick<AnalyticsPlan, 'filters' | 'sessionFilters'> {
  const all = text === undefined ? [] : readFilters(text, 'web_event', fieldOfFigures)
  const isOfSession = ({ field }: Filter) =>
    field !== undefined && field === sessionFieldNamed(field.name)
  return {
    filters: all.filter((filter) => !isOfSession(filter)),
    sessionFilters: all.filter(isOfSession),
  }
}

const fieldOfFigures: FieldOf = (name: string) => sessionFieldNamed(name) ?? fieldNamed(name)

/** Reads optional filters on events. Throws 400 that names the parameter. */
export function readEventFilters(parameter: string, text: string | undefined): readonly Filter[] {
  if (text === undefined) return []
  try {
    return readFilters(text, 'web_event')
  } catch (error) {
    if (parameter === 'filter' || !(error instanceof ApiError)) throw error
    throw invalidParameter(parameter, error.message.replace(/^filter: /, ''))
  }
}

/** Returns by how many days of local time the previous period is earlier. */
export const daysBack = ({
  window: { startMs, endMs },
  zone,
}: Pick<AnalyticsPlan, 'window' | 'zone'>): number =>
  Math.ceil((endMs + zone.offsetAt(endMs) - startMs - zone.offsetAt(startMs)) / dayMs)

export function before<Plan extends Pick<AnalyticsPlan, 'window' | 'zone'>>(plan: Plan): Plan {
  const { startMs, endMs } = plan.window
  const days = daysBack(plan)
  const earlier = (ms: number) => daysEarlier(ms, days, plan.zone)
  return { ...plan, window: { startMs: earlier(startMs), endMs: earlier(endMs) } }
}
