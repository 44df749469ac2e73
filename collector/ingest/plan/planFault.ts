import { plannedEventsMax, type TrackingPlan } from '../../../schemas/trackingPlan.ts'
import type { Fault } from '../normalize/validateEvent.ts'
import { findSchemaFault } from './schemaLimits.ts'

/** The limit of `name` of custom events. */
const nameCharsMax = 100
const planBytesMax = 512 * 1024

/** Finds the first fault of a plan, with a JSON pointer into it; undefined without a fault. */
export function findPlanFault({ events }: Pick<TrackingPlan, 'events'>): Fault | undefined {
  const names = Object.keys(events)
  if (names.length > plannedEventsMax)
    return {
      path: '/events',
      message: `must have at most ${plannedEventsMax} events (got ${names.length})`,
    }
  if (Buffer.byteLength(JSON.stringify(events)) > planBytesMax)
    return { path: '/events', message: `must take at most ${planBytesMax} bytes of JSON` }
  const seen = { patternSize: 0 }
  for (const name of names) {
    if (name === '' || name.length > nameCharsMax || /\p{Cc}/u.test(name) || name === '__proto__')
      return {
        path: '/events',
        message: `must have names of 1 to ${nameCharsMax} characters without control characters`,
      }
    const fault = findSchemaFault(events[name]!.schema, seen)
    if (fault) return { ...fault, path: `/events/${name}/schema${fault.path}` }
  }
}
