import { type Field, hasProfile, hem, isProfileField } from '../../../schemas/fields.ts'
import { eventsWithProfiles } from '../../identity/store/profileSql.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import type { Bind } from './bind.ts'
import type { CountsPlan, Selection } from './selection.ts'
import { eventsWithSessions, isAboutSessions } from './sessions.ts'

/**
 * Returns the FROM of a selection: for most reads only the table of events. If sessions or profiles determine
 * the rows, it joins them over the entire window. `names` are further fields that determine rows, such as
 * groups. `declared` is the WITH before SELECT.
 */
export function eventsSource(
  plan: Pick<
    Selection,
    'scope' | 'window' | 'filters' | 'sessionFilters' | 'bots' | 'oneVisitorOf'
  > & {
    readonly distinct?: readonly Field[]
    /** Session fields that are also columns. */
    readonly sessionNames?: readonly string[]
  },
  names: readonly string[],
  bind: Bind,
  events = 'events',
): { declared: string; from: string } {
  const { distinct = [], filters, sessionFilters = [], sessionNames = [] } = plan
  const deciding = [...distinct.map(({ name }) => name), ...names]
  const { declared, from } =
    sessionFilters.length + sessionNames.length > 0 || isAboutSessions(filters, deciding)
      ? eventsWithSessions(plan, deciding, bind, events)
      : { declared: '', from: events }
  return { declared, from: eventsWithProfiles(distinct.filter(isProfileField), from) }
}

/** The name of the table of events in SQL, and the members of a Query that belong to it. */
interface EventsTable {
  readonly events: string
  readonly tableQuery: Pick<Query, 'params' | 'pixelId' | 'projectId'>
}

type TablePlan = Pick<CountsPlan, 'scope' | 'filters' | 'distinct'> & {
  readonly isForEstimate?: true
}

/**
 * Decides which table of events a plan reads: the one of the pixel's shard, if only events of one pixel are read. Reads
 * of one project may use the table of its shard, while another shard is unavailable. A
 * session may span several pixels of a project, and identities are in other tables, so these need all shards. `names`
 * are the fields that are selected or grouped by. An estimate always uses the placeholder: it reads each shard's table.
 */
export function eventsTable(
  { scope, filters, distinct, isForEstimate }: TablePlan,
  names: readonly string[],
): EventsTable {
  const { pixelId, projectId } = scope
  const areAlone =
    !isAboutSessions(filters, [...names, ...distinct.map(({ name }) => name)]) &&
    !distinct.some(isProfileField) &&
    !filters.some(({ field }) => field && (isOfPeople.has(field) || isProfileField(field)))
  if (!(areAlone && (pixelId !== null || projectId !== null)) && !isForEstimate)
    return { events: 'events', tableQuery: { params: {} } }
  return {
    events: '{events:Identifier}',
    tableQuery: {
      params: { events: 'events' },
      ...(areAlone && (pixelId !== null ? { pixelId } : projectId !== null && { projectId })),
    },
  }
}

/** Filters on these fields also read other tables (filterSql.ts). */
const isOfPeople: ReadonlySet<Field> = new Set([hem, hasProfile])
