import { type Field, isProfileField } from '../../schemas/fields.ts'
import { eventsWithProfiles } from '../people/identity/profileSql.ts'
import type { Selection } from './plan.ts'
import { eventsWithSessions, isAboutSessions } from './sessions.ts'
import type { Bind } from './where.ts'

/**
 * What rows of a selection are selected from: the table, joined over the whole window with what decides which rows
 * there are, for most reads nothing. `names` are further fields that do, such as groups. `declared` stands before
 * SELECT.
 */
export function eventsSource(
  plan: Pick<Selection, 'scope' | 'window' | 'filters'> & { readonly distinct?: readonly Field[] },
  names: readonly string[],
  bind: Bind,
): { declared: string; from: string } {
  const { distinct = [], filters } = plan
  const deciding = [...distinct.map(({ name }) => name), ...names]
  const { declared, from } = isAboutSessions(filters, deciding)
    ? eventsWithSessions(plan, bind)
    : { declared: '', from: 'events' }
  return { declared, from: eventsWithProfiles(distinct.filter(isProfileField), from) }
}
