import { eventTypeOf } from '../../../schemas/captured.ts'
import { eventPaths } from '../../../schemas/eventPaths.ts'
import { eventTypes } from '../../../schemas/events/index.ts'
import { isUuid } from '../../../schemas/uuid.ts'

/** The types of events: complete ones, captured ones, and those that only Segment's API has. */
const knownTypes = new Set([...eventTypes, ...Object.keys(eventTypeOf), 'screen', 'group', 'alias'])

/** What an answer without charge shows of an event. */
interface Shown {
  event_id?: string | null
  event_type: string | null
  path: string
}

/**
 * Removes the sender's own text from a rejection. Otherwise a site could read its events without paying, in the ids, types
 * or names of invalid events.
 */
export function withoutSenderText<T extends Shown>(rejection: T): T {
  const { event_id, event_type, path } = rejection
  return {
    ...rejection,
    ...(event_id !== undefined && { event_id: isUuid(event_id) ? event_id : null }),
    event_type: event_type !== null && knownTypes.has(event_type) ? event_type : null,
    path: knownPathOf(path),
  }
}

/** Returns a path up to the first of the sender's own names, which becomes `*`. */
function knownPathOf(path: string): string {
  let known = ''
  for (const name of path.split('/').slice(1)) {
    if (!eventPaths.has(`${known}/${name}`)) return `${known}/*`
    known += `/${name}`
  }
  return known
}
