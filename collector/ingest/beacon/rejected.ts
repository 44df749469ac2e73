import type { RejectedEvent } from '../../../schemas/beacon.ts'
import { eventDataSchemas } from '../../../schemas/events/index.ts'
import { rejectedEvents } from '../../platform/metrics.ts'
import type { BeaconContext } from '../normalize/eventRow.ts'
import { unmarkLongIntegers } from '../normalize/exactNumbers.ts'
import { type Fault, isObject } from '../normalize/validateEvent.ts'

const rejectedEventCharsMax = 4096

/** The entry of a rejected event in the receipt. */
export const rejectedEntry = (
  index: number,
  event: unknown,
  fault: Fault,
  code: RejectedEvent['code'] = 'invalid_event',
): RejectedEvent => ({
  index,
  code,
  event_id: textMember(event, 'event_id'),
  ...fault,
})

/** Returns a line for the `rejected_events` table, and counts the event. */
export function rejectedRow(event: unknown, fault: Fault, context: BeaconContext): string {
  rejectedEvents.inc({ part: partOf(fault) })
  return JSON.stringify({
    received_at: new Date(context.receivedMillis).toISOString(),
    organization_id: context.organizationId,
    project_id: context.projectId,
    pixel_id: context.pixelId,
    cookie_id: context.cookieId,
    event_id: textMember(event, 'event_id'),
    event_type: textMember(event, 'event_type') ?? textMember(event, 'type'),
    path: fault.path.toWellFormed(),
    message: fault.message.toWellFormed(),
    event: jsonOf(event).slice(0, rejectedEventCharsMax).toWellFormed(),
  })
}

/** Returns the JSON of an event; a too deep event cannot be encoded, and gets a placeholder. */
function jsonOf(event: unknown): string {
  try {
    return unmarkLongIntegers(JSON.stringify(event))
  } catch {
    return '"too deep to be shown"'
  }
}

/** Names from the schemas and never from senders, because each becomes a label of a metric. */
const dataMembers = new Set(
  Object.values(eventDataSchemas).flatMap(({ properties }) => Object.keys(properties)),
)
const reportedParts = [
  'event_id',
  'event_type',
  'event_data',
  'type',
  'hem',
  'hem_source',
  'hem_signature',
]

/** Returns the faulty part of an event: "event_type", "event_data/timestamp", …; never a sender's own key. */
function partOf({ path }: Fault): string {
  if (path.endsWith('/__proto__')) return '__proto__'
  const [part = '', member] = path.split('/', 3).slice(1)
  if (part === 'event_data' && member && dataMembers.has(member)) return `${part}/${member}`
  return reportedParts.includes(part) ? part : 'event'
}

/** Returns a text member of an unchecked event. */
function textMember(event: unknown, key: 'event_id' | 'event_type' | 'type'): string | null {
  const value = isObject(event) ? event[key] : undefined
  return typeof value === 'string' ? value.slice(0, 100).toWellFormed() : null
}
