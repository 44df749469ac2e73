import { type Field, hasProfile, hem, isProfileField } from '../../../schemas/fields.ts'
import { eventsWithProfiles } from '../../identity/store/profileSql.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import type { Bind } from './bind.ts'
import type { CountsPlan, Selection } from './selection.ts'
import { eventsWithSessions, isAboutSessions } from './sessions.ts'

/**
 * What rows of a selection are selected from: the table, joined over the whole window with what decides which rows
 * there are, for most reads nothing. `names` are further fields that do, such as groups. `declared` stands before
 * SELECT.
 */
export function eventsSource(
  plan: Pick<Selection, 'scope' | 'window' | 'filters' | 'bots'> & {
    readonly distinct?: readonly Field[]
  },
  names: readonly string[],
  bind: Bind,
  events = 'events',
): { declared: string; from: string } {
  const { distinct = [], filters } = plan
  const deciding = [...distinct.map(({ name }) => name), ...names]
  const { declared, from } = isAboutSessions(filters, deciding)
    ? eventsWithSessions(plan, bind, events)
    : { declared: '', from: events }
  return { declared, from: eventsWithProfiles(distinct.filter(isProfileField), from) }
}

/** The table of events in the SQL of a query, and what the query has because of it. */
interface EventsPlace {
  readonly events: string
  readonly asked: Pick<Query, 'params' | 'pixelId'>
}

type PlaceOf = Pick<CountsPlan, 'scope' | 'filters' | 'distinct'> & {
  readonly isForEstimate?: true
}

/**
 * Where a plan's events are read: at their pixel's shard, when nothing but events of one pixel is. Sessions go on from
 * one pixel of a project to the next, and who people are stands in other tables. `names` are the fields that are
 * selected or grouped by. An estimate names the table by itself: each shard's is looked at.
 */
export function eventsPlace(
  { scope, filters, distinct, isForEstimate }: PlaceOf,
  names: readonly string[],
): EventsPlace {
  const { pixelId } = scope
  const areOfPixel =
    pixelId !== null &&
    !isAboutSessions(filters, [...names, ...distinct.map(({ name }) => name)]) &&
    !distinct.some(isProfileField) &&
    !filters.some(({ field }) => field && (isOfPeople.has(field) || isProfileField(field)))
  return areOfPixel || isForEstimate
    ? {
        events: '{events:Identifier}',
        asked: { params: { events: 'events' }, ...(areOfPixel && { pixelId }) },
      }
    : { events: 'events', asked: { params: {} } }
}

/** Filters of them ask other tables, too (filterSql.ts). */
const isOfPeople: ReadonlySet<Field> = new Set([hem, hasProfile])
