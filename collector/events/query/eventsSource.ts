import { type Field, isProfileField } from '../../../schemas/fields.ts'
import { eventsWithProfiles } from '../../identity/store/profileSql.ts'
import type { Bind } from './bind.ts'
import type { Selection } from './filter/selection.ts'
import { eventsWithSessions, isAboutSessions } from './sessions.ts'

/**
 * Returns the FROM of a selection: for most reads only the table of events. If sessions or profiles determine
 * the rows, it joins them over the entire window. `names` are further fields that determine rows, such as groups.
 */
export function eventsSource(
  plan: Pick<Selection, 'scope' | 'window' | 'filters'> & { readonly distinct?: readonly Field[] },
  names: readonly string[],
  bind: Bind,
  events = 'events',
): string {
  const { distinct = [], filters } = plan
  const deciding = [...distinct.map(({ name }) => name), ...names]
  const from = isAboutSessions(filters, deciding) ? eventsWithSessions(plan, bind, events) : events
  return eventsWithProfiles(distinct.filter(isProfileField), from)
}
