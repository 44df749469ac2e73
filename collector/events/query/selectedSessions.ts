import type { Bind } from './bind.ts'
import type { Filter } from './filter/filter.ts'
import { sessionFieldSql, sessionFilterCondition } from './filter/filterSql.ts'
import { flagOf, packedEvents, packedFlagsMax } from './packedEvents.ts'
import { fieldOfEvent, isSelective, viewOfField } from './sessionFields.ts'
import { millisOf, splitSessions } from './sessionSplit.ts'

/** Filters of sessions as flags of packed events. */
export interface SessionFlags {
  /** SQL of aliases in the flags. */
  readonly declared: readonly string[]
  readonly flags: readonly string[]
  /** Places of flags that an event of each selected visitor has. */
  readonly needed: readonly number[]
  /** SQL conditions over `_session` and `views`. */
  readonly where: readonly string[]
}

/** Whether filters of sessions fit into the flags of events that have this many others. */
export const fitFlags = (filters: readonly Filter[], others: number): boolean =>
  filters.length + others <= packedFlagsMax

/**
 * Returns the flags of packed events with ids that decide filters of sessions, from this place on. Each event says
 * whether its own values match, so that no text needs to be kept for its session.
 */
export function sessionFlags(
  filters: readonly Filter[],
  bind: Bind,
  { place, views }: { place: number; views: string },
): SessionFlags {
  const names = [...new Set(filters.map(({ field }) => field!.name))]
  const isAbsentMet = ({ op }: Filter) => op === 'ne'
  const view = ({ field }: Filter) => viewOfField(field!.name)
  return {
    declared: names.map((name) => `${fieldOfEvent(name)} AS ${sessionFieldSql(name)}`),
    flags: filters.map((filter) => `ifNull(${sessionFilterCondition(filter, bind)}, false)`),
    needed: filters.flatMap((filter, index) =>
      view(filter) && isAbsentMet(filter) ? [] : [place + index],
    ),
    where: filters.map((filter, index) => {
      const at = view(filter)
      const flag = (event: string) => flagOf(event, place + index, { hasIds: true })
      return at
        ? `if(empty(${views}), ${isAbsentMet(filter)}, ${flag(`${views}[${at}]`)})`
        : flag('_session[1]')
    }),
  }
}

/**
 * Returns the condition that leaves out visitors without an event that matches filters of sessions, if this saves more
 * than it costs. `conditions` are those of the events. Collecting events costs many times more than reading them.
 */
export function visitorsSelected(
  filters: readonly Filter[],
  conditions: readonly string[],
  events: string,
  bind: Bind,
): readonly string[] {
  const selective = filters.filter(isSelective)
  const view = ({ field }: Filter) => viewOfField(field!.name)
  const ofOneEvent = selective.filter((filter) => view(filter) === view(selective[0]!))
  if (ofOneEvent.length === 0) return []
  const { declared, flags } = sessionFlags(ofOneEvent, bind, { place: 0, views })
  return [visitorsWith(flags, conditions, events, declared)]
}

/** Returns SQL for whether the visitor has an event that matches these conditions (SQL). */
export const visitorsWith = (
  matches: readonly string[],
  conditions: readonly string[],
  events: string,
  declared: readonly string[] = [],
): string =>
  `cookie_id IN (${declared.length > 0 ? `WITH ${declared.join(', ')} ` : ''}SELECT cookie_id FROM ${events} WHERE ${[...conditions, ...matches].join(' AND ')})`

const views = `arrayFilter(event -> ${flagOf('event', 0, { hasIds: true })}, _session)`

/**
 * Returns SQL of the sessions of events that meet `conditions`, if they match these filters. Its columns are
 * `_project_id`, `_cookie_id`, and `_start` and `_end` (epoch milliseconds of its first and last event).
 */
export function selectedSessionsSql(
  filters: readonly Filter[],
  conditions: readonly string[],
  events: string,
  bind: Bind,
): string {
  const { declared, flags, needed, where } = sessionFlags(filters, bind, { place: 1, views })
  const packed = packedEvents({
    declared,
    flags: ["event_type = 'page_view'", ...flags],
    hasIds: true,
    needed,
  })
  return `SELECT _project_id, _cookie_id, ${millisOf('_session[1]')} AS _start, ${millisOf('_session[-1]')} AS _end
FROM ${splitSessions(events, [...conditions, ...visitorsSelected(filters, conditions, events, bind)], packed)}
WHERE ${where.join('\n  AND ')}`
}
