import { type Field, isProfileField } from '../../../schemas/fields.ts'
import { eventsWithProfiles } from '../../identity/store/profileSql.ts'
import type { Bind } from './bind.ts'
import type { Selection } from './filter/selection.ts'
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
