import { ownCustomEvents, type TrackingPlan } from '../../../schemas/trackingPlan.ts'
import { isObject } from '../../platform/json.ts'
import type { Fault } from '../normalize/validateEvent.ts'
import { type Check, compileSchema } from './compileSchema.ts'
import { createPatternTimer } from './patternTimer.ts'
import type { PlanSchema } from './schemaLimits.ts'

export interface CompiledPlan {
  /** Returns the violation of a custom event, and whether it rejects the event; undefined without one. */
  violationOf(eventData: Record<string, unknown>): Violation | undefined
}

export interface Violation {
  fault: Fault
  isRejected: boolean
}

/** Compiles a plan once, for all events of its project. The schema of an event is compiled at its first event. */
export function compilePlan({ on_violation, on_unplanned, events }: TrackingPlan): CompiledPlan {
  const checks = new Map<string, Check>()
  const matches = createPatternTimer()
  const checkOf = (name: string): Check | undefined => {
    const known = checks.get(name)
    if (known || !Object.hasOwn(events, name)) return known
    const check = compileSchema(events[name]!.schema as PlanSchema, matches)
    checks.set(name, check)
    return check
  }
  const unplanned: Violation | undefined =
    on_unplanned === 'accept'
      ? undefined
      : {
          fault: { path: '/event_data/name', message: 'must be an event of the tracking plan' },
          isRejected: on_unplanned === 'reject',
        }
  return {
    violationOf({ name, properties }) {
      if (typeof name !== 'string' || ownCustomEvents.has(name)) return
      const check = checkOf(name)
      if (!check) return unplanned
      const fault = check(isObject(properties) ? properties : {})
      return fault && { fault: withPlace(fault), isRejected: on_violation === 'reject' }
    },
  }
}

const withPlace = ({ path, message }: Fault): Fault => ({
  path: `/event_data/properties${path}`.slice(0, 1_000),
  message: `${message} (tracking plan)`,
})
