import type { CollectorSettings, PixelSettings } from '../../../schemas/beacon.ts'
import { keylessAgeDaysMax } from '../../../schemas/eventAge.ts'
import { type BeaconContext, eventMillis, eventRow } from '../normalize/eventRow.ts'
import { unmarkLongIntegers } from '../normalize/exactNumbers.ts'
import { type NormalizedEvent, normalize, type Person } from '../normalize/normalize.ts'
import {
  type Fault,
  findBadShape,
  type ValidEvent,
  validateEvent,
} from '../normalize/validateEvent.ts'
import type { CompiledPlan, Violation } from '../plan/compilePlan.ts'

/** The rows and the identity from one member of a beacon's `events`. */
export interface AcceptedEvent {
  /** Lines for the `events` table: the event and its derived events. */
  rows: string[]
  /** The person that the event names. */
  person?: Person | undefined
  /** Derived events that are invalid. */
  refused: { event: NormalizedEvent; fault: Fault }[]
}

const dayMs = 86_400_000

/**
 * Turns one member of a beacon's `events` into rows, or returns its fault. It never throws, so an error costs
 * this event alone; `reportUnexpected` gets errors that are faults of our own. `isExact`: its long integers are marked
 * texts (exactNumbers.ts). Its steps: findBadShape ▶ normalize ▶ validate each event ▶ eventRow.
 */
export function acceptEvent(
  sent: unknown,
  { context, sharedColumns, settings, plan, ageDaysMax, reportUnexpected }: BeaconParts,
  isExact = false,
): AcceptedEvent | Fault {
  try {
    const badShape = findBadShape(sent)
    if (badShape) return badShape
    const normalized = normalize(sent, settings)
    if ('path' in normalized) return normalized
    const accepted: AcceptedEvent = { rows: [], person: normalized.person, refused: [] }
    if (normalized.own) {
      const own = validate(normalized.own, context, { ageDaysMax, isExact, plan })
      if ('path' in own) return own
      accepted.rows.push(rowOf(normalized.own, own, sharedColumns))
    }
    for (const event of normalized.derived) {
      const checked = validate(event, context, { ageDaysMax, isExact })
      if ('path' in checked) accepted.refused.push({ event, fault: checked })
      else accepted.rows.push(rowOf(event, checked, sharedColumns))
    }
    return accepted
  } catch (error) {
    reportUnexpected(error)
    return { path: '', message: 'must be an event that can be read' }
  }
}

/** The common parts of a beacon's events. */
export interface BeaconParts {
  context: BeaconContext
  /** The columns that all its rows have in common (sharedMembers). */
  sharedColumns: string
  settings: PixelSettings & CollectorSettings
  /** Maximum age of an event, in days. */
  ageDaysMax: number
  /** The tracking plan of the project; undefined if it has none. */
  plan: CompiledPlan | undefined
  reportUnexpected: (error: unknown) => void
}

interface Validated {
  event: ValidEvent
  tsMillis: number
}

function validate(
  event: NormalizedEvent,
  context: BeaconContext,
  {
    ageDaysMax,
    isExact,
    plan,
  }: { ageDaysMax: number; isExact: boolean; plan?: CompiledPlan | undefined },
): Validated | Fault {
  // Schemas require numbers; the row stores the digits.
  const valid = validateEvent(
    isExact ? JSON.parse(unmarkLongIntegers(JSON.stringify(event))) : event,
  )
  if ('path' in valid) return valid
  const violation =
    plan && valid.event_type === 'custom' ? plan.violationOf(valid.event_data) : undefined
  if (violation?.isRejected) return violation.fault
  if (isExact) valid.event_data = event.event_data as ValidEvent['event_data']
  if (plan && valid.event_type === 'custom')
    valid.event_data = markedData(valid.event_data, violation)
  const tsMillis = eventMillis(valid, context)
  if (tsMillis < context.receivedMillis - ageDaysMax * dayMs) {
    const message = `must be at most ${ageDaysMax} days ago`
    const isKeyless = ageDaysMax === keylessAgeDaysMax
    return {
      path: '/event_data/timestamp',
      message: isKeyless ? `${message}; older events need an API key of the project` : message,
    }
  }
  return { event: valid, tsMillis }
}

/** Adds the violation to the data of an event. A sender cannot set it. */
function markedData(
  { plan_violation: _, ...data }: ValidEvent['event_data'],
  violation: Violation | undefined,
): ValidEvent['event_data'] {
  if (!violation) return data as ValidEvent['event_data']
  const { path, message } = violation.fault
  return { ...data, plan_violation: `${path}: ${message}` } as ValidEvent['event_data']
}

const rowOf = (
  { referrer }: NormalizedEvent,
  { event, tsMillis }: Validated,
  sharedColumns: string,
): string =>
  eventRow(referrer === undefined ? event : { ...event, referrer }, sharedColumns, tsMillis)
