import type { CollectorSettings, PixelSettings } from '../../../schemas/beacon.ts'
import { keylessAgeDaysMax } from '../../../schemas/eventAge.ts'
import { dayMs } from '../../platform/days.ts'
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
import type { Ignored } from './ignoredTraffic.ts'

/** The steps of a member of a beacon's `events`, in order. */
const memberSteps: readonly Step<Member>[] = [
  dropIgnored,
  rejectUnparsed,
  rejectBadShape,
  normalizeMember,
  acceptOwnEvent,
  acceptDerivedEvents,
]

/** The steps of each event that a member becomes, in order, once its schema accepts it. */
const eventSteps: readonly Step<ValidDraft>[] = [
  rejectUnplanned,
  rejectOld,
  restoreLongIntegers,
  markViolation,
  encodeRow,
]

/** Sets what later steps read and returns null, or ends the steps: with `dropped`, or with the fault of a rejected event. */
type Step<T> = (subject: T, beacon: StepContext) => Fault | null

/** The result for an event that a setting of the project ignores. It is not rejected, and no receipt shows this text. */
export const dropped: Fault = { path: '', message: 'must not be of ignored traffic' }

export interface StepContext {
  context: BeaconContext
  /** The columns that all its rows have in common (sharedMembers). */
  sharedColumns: string
  settings: PixelSettings & CollectorSettings
  /** The referrer of the page, for events that have none of their own. */
  referrer?: string | undefined
  ageDaysMax: number
  /** The tracking plan of the project; undefined if it has none. */
  plan: CompiledPlan | undefined
  /** The members that settings of the project ignore. */
  ignored: Ignored | null
  /** Faults that the parser of the body found, by index. */
  faults: ReadonlyMap<number, Fault> | undefined
  reportUnexpected: (error: unknown) => void
}

/** A member of a beacon's `events` between two steps. */
interface Member {
  readonly index: number
  readonly sent: unknown
  /** Whether its long integers are marked texts (exactNumbers.ts). */
  readonly isExact: boolean
  own: NormalizedEvent | undefined
  derived: readonly NormalizedEvent[]
  person: Person | undefined
  /** Lines for the `events` table: the event and its derived events. */
  readonly rows: string[]
  readonly refused: RefusedEvent[]
}

interface RefusedEvent {
  event: NormalizedEvent
  fault: Fault
}

/** The rows and the identity from one member of a beacon's `events`. */
type AcceptedEvent = Readonly<Pick<Member, 'rows' | 'person' | 'refused'>>

/**
 * Turns one member of a beacon's `events` into rows. `exact` is the member with its long integers as marked texts, if it
 * has any. If a schema requires a number there, the steps repeat with the original. It never throws, so an error costs
 * this event alone; `reportUnexpected` gets errors that are faults of our own.
 */
export function acceptEvent(
  sent: unknown,
  exact: unknown,
  beacon: StepContext,
  index = 0,
): AcceptedEvent | Fault {
  if (exact) {
    const accepted = runSteps(exact, true, beacon, index)
    if ('rows' in accepted || accepted === dropped) return accepted
  }
  return runSteps(sent, false, beacon, index)
}

function runSteps(
  sent: unknown,
  isExact: boolean,
  beacon: StepContext,
  index: number,
): Member | Fault {
  const member: Member = {
    index,
    sent,
    isExact,
    own: undefined,
    derived: [],
    person: undefined,
    rows: [],
    refused: [],
  }
  try {
    for (const step of memberSteps) {
      const end = step(member, beacon)
      if (end) return end
    }
    return member
  } catch (error) {
    beacon.reportUnexpected(error)
    return { path: '', message: 'must be an event that can be read' }
  }
}

function dropIgnored({ index }: Member, { ignored }: StepContext): Fault | null {
  return ignored?.events.has(index) ? dropped : null
}

function rejectUnparsed({ index }: Member, { faults }: StepContext): Fault | null {
  return faults?.get(index) ?? null
}

function rejectBadShape({ sent }: Member): Fault | null {
  return findBadShape(sent)
}

/** Sets the event of a complete or captured member, the events derived from it, and the person that it names. */
function normalizeMember(member: Member, { settings }: StepContext): Fault | null {
  const normalized = normalize(member.sent, settings)
  if ('path' in normalized) return normalized
  member.own = normalized.own
  member.derived = normalized.derived
  member.person = normalized.person
  return null
}

function acceptOwnEvent(member: Member, beacon: StepContext): Fault | null {
  return member.own ? addRow(member, member.own, beacon) : null
}

/** A derived event that is invalid does not affect the others. */
function acceptDerivedEvents(member: Member, beacon: StepContext): null {
  for (const event of member.derived) {
    const fault = addRow(member, event, beacon)
    if (fault) member.refused.push({ event, fault })
  }
  return null
}

/** A valid event of a member between two steps. */
interface ValidDraft {
  readonly event: ValidEvent
  readonly source: NormalizedEvent
  readonly isExact: boolean
  /** Null without a plan, and for events that it does not describe: derived events and those of other types. */
  readonly plan: CompiledPlan | null
  violation: Violation | undefined
  /** When it happened by our clock, epoch milliseconds. */
  tsMillis: number
  row: string
}

/** Adds the row of one event of a member. Returns the fault of a rejected event. */
function addRow(member: Member, source: NormalizedEvent, beacon: StepContext): Fault | null {
  const { isExact, own, rows } = member
  // Schemas require numbers; the row stores the digits.
  const event = validateEvent(
    isExact ? JSON.parse(unmarkLongIntegers(JSON.stringify(source))) : source,
  )
  if ('path' in event) return event
  const isPlanned = source === own && event.event_type === 'custom'
  const draft: ValidDraft = {
    event,
    source,
    isExact,
    plan: (isPlanned && beacon.plan) || null,
    violation: undefined,
    tsMillis: 0,
    row: '',
  }
  for (const step of eventSteps) {
    const fault = step(draft, beacon)
    if (fault) return fault
  }
  rows.push(draft.row)
  return null
}

function rejectUnplanned(draft: ValidDraft): Fault | null {
  draft.violation = draft.plan?.violationOf(draft.event.event_data)
  return draft.violation?.isRejected ? draft.violation.fault : null
}

function rejectOld(draft: ValidDraft, { context, ageDaysMax }: StepContext): Fault | null {
  draft.tsMillis = eventMillis(draft.event, context)
  if (draft.tsMillis >= context.receivedMillis - ageDaysMax * dayMs) return null
  const hint =
    ageDaysMax === keylessAgeDaysMax ? '; older events need an API key of the project' : ''
  return {
    path: '/event_data/timestamp',
    message: `must be at most ${ageDaysMax} days ago${hint}`,
  }
}

function restoreLongIntegers({ event, source, isExact }: ValidDraft): null {
  if (isExact) event.event_data = source.event_data as EventData
  return null
}

/** Adds the violation to the data of an event. A sender cannot set it. */
function markViolation({ event, plan, violation }: ValidDraft): null {
  if (!plan) return null
  const { plan_violation: _, ...data } = event.event_data
  if (violation) data.plan_violation = `${violation.fault.path}: ${violation.fault.message}`
  event.event_data = data as EventData
  return null
}

type EventData = ValidEvent['event_data']

function encodeRow(draft: ValidDraft, beacon: StepContext): null {
  const { event, source, tsMillis } = draft
  const referrer = source.referrer ?? beacon.referrer
  // One time in a row: that of our clock, where the sender's is wrong.
  if (tsMillis !== event.sentMillis) event.event_data.timestamp = new Date(tsMillis).toISOString()
  draft.row = eventRow(
    referrer === undefined ? event : { ...event, referrer },
    beacon.sharedColumns,
    tsMillis,
  )
  return null
}
