import type { CollectorSettings, PixelSettings } from '../../../schemas/beacon.ts'
import { type BeaconContext, eventMillis, eventRow } from '../normalize/eventRow.ts'
import { unmarkLongIntegers } from '../normalize/exactNumbers.ts'
import { type Derived, normalize, type Person } from '../normalize/normalize.ts'
import {
  eventAgeDaysMax,
  type Fault,
  findBadShape,
  type ValidEvent,
  validateEvent,
} from '../normalize/validateEvent.ts'

/** What one member of a beacon's `events` became. */
export interface Accepted {
  /** Lines for the `events` table: its own and those of the events that follow from it. */
  rows: string[]
  /** Whom it names. */
  person?: Person | undefined
  /** Of the events that follow from it, those that no schema takes. */
  refused: { event: Derived; fault: Fault }[]
}

const dayMs = 86_400_000

/**
 * Turns one member of a beacon's `events` into rows, or tells what is wrong with it. Whatever a stranger sent, this
 * throws nothing: what goes wrong costs this event alone. `unexpected` is told of what should not have. `isExact` says
 * that its long integers are marked texts (exactNumbers.ts).
 */
export function acceptEvent(
  sent: unknown,
  { context, shared, settings, unexpected }: BeaconPlace,
  isExact = false,
): Accepted | Fault {
  try {
    const badShape = findBadShape(sent)
    if (badShape) return badShape
    const meaning = normalize(sent, settings)
    if ('path' in meaning) return meaning
    const accepted: Accepted = { rows: [], person: meaning.person, refused: [] }
    if (meaning.own) {
      const own = check(meaning.own, context, isExact)
      if ('path' in own) return own
      accepted.rows.push(rowOf(meaning.own, own, shared))
    }
    for (const event of meaning.derived) {
      const checked = check(event, context, isExact)
      if ('path' in checked) accepted.refused.push({ event, fault: checked })
      else accepted.rows.push(rowOf(event, checked, shared))
    }
    return accepted
  } catch (error) {
    unexpected(error)
    return { path: '', message: 'must be an event that can be read' }
  }
}

/** What acceptEvent needs to know of the beacon. */
export interface BeaconPlace {
  context: BeaconContext
  /** The columns that all its rows share (sharedMembers). */
  shared: string
  settings: PixelSettings & CollectorSettings
  unexpected: (error: unknown) => void
}

interface Checked {
  event: ValidEvent
  tsMillis: number
}

function check(event: Derived, context: BeaconContext, isExact: boolean): Checked | Fault {
  // Schemas ask for numbers; what is stored are the digits.
  const valid = validateEvent(
    isExact ? JSON.parse(unmarkLongIntegers(JSON.stringify(event))) : event,
  )
  if ('path' in valid) return valid
  if (isExact) valid.event_data = event.event_data as ValidEvent['event_data']
  const tsMillis = eventMillis(valid, context)
  if (tsMillis < context.receivedMillis - eventAgeDaysMax * dayMs) {
    return { path: '/event_data/timestamp', message: `must be at most ${eventAgeDaysMax} days ago` }
  }
  return { event: valid, tsMillis }
}

const rowOf = ({ referrer }: Derived, { event, tsMillis }: Checked, shared: string): string =>
  eventRow(referrer === undefined ? event : { ...event, referrer }, shared, tsMillis)
