import type { FastifyRequest } from 'fastify'
import type { BeaconReceipt, RejectedEvent } from '../../schemas/beacon.ts'
import { ApiError, notFound, pixelInactive } from '../errors.ts'
import { acceptedEvents, droppedBotEvents, droppedOptOutEvents, rejectedEvents } from '../metrics.ts'
import { orBusy } from '../spool/orBusy.ts'
import type { Spool } from '../spool/spool.ts'
import type { Envelope } from './beacon.ts'
import { derive, type Person, personIn } from './derive.ts'
import { knownDevice } from './device.ts'
import { preferredLanguage } from './language.ts'
import type { IngestLimits } from './limits.ts'
import type { Locate } from './location.ts'
import type { OptOuts } from './optOuts.ts'
import type { PinnedScripts } from './pinnedScripts.ts'
import type { Pixel, PixelRegistry } from './pixels.ts'
import { type BeaconContext, clockCorrectionMs, eventMillis, eventRow, sharedMembers } from './row.ts'
import {
  eventAgeDaysMax,
  type Fault,
  findProtoKey,
  isObject,
  type ValidEvent,
  validateEvent,
} from './validate.ts'
import { type DailySalt, type Visitor, visitorOf } from './visitor.ts'

/** What ingest is built from. */
export interface IngestDeps {
  pixels: PixelRegistry
  optOuts: OptOuts
  salt: DailySalt
  pinned: PinnedScripts
  locate: Locate
  /** One spool per table that ingest writes. */
  spools: { events: Spool; rejected_events: Spool; identity_links: Spool }
  limits: IngestLimits
}

export interface Taken {
  receipt: BeaconReceipt
  visitor: Visitor
}

const dayMs = 86_400_000
const rejectedEventCharsMax = 4096

/**
 * Takes a beacon in: validates each event, encodes those that pass, and resolves when all that was accepted, and
 * what was turned away, is on disk. Of a visitor who has opted out nothing is kept. Throws 404 "pixel not found", 403
 * "pixel inactive" or "origin not allowed", 429 "rate_limited", and 503 "busy": then the beacon is to be sent again, and what was kept of it is not stored twice.
 */
export async function takeIn(deps: IngestDeps, request: FastifyRequest, envelope: Envelope): Promise<Taken> {
  const pixel = activePixel(deps.pixels, envelope.pixel_id)
  requireAllowedOrigin(pixel, originOf(request))
  const limited = deps.limits(pixel.pixelId, request.ip)
  if (limited) await limited
  const device = knownDevice(request.headers['user-agent'] ?? '')
  const receivedMillis = Date.now()
  const visitor = visitorOf(
    request,
    pixel,
    { cookieId: envelope.cookie_id, consent: envelope.consent },
    deps.salt.current(),
  )
  const context: BeaconContext = {
    organizationId: pixel.organizationId,
    projectId: pixel.projectId,
    pixelId: pixel.pixelId,
    cookieId: visitor.cookieId,
    clientIp: request.ip,
    deviceMembers: `${device.members},${deps.locate(request.ip)},${languageMember(request)}`,
    receivedMillis,
    clockCorrectionMs: clockCorrectionMs(receivedMillis, envelope.sentAtMillis),
  }
  const shared = sharedMembers(context)

  const eventRows: string[] = []
  const rejectedRows: string[] = []
  const rejected: RejectedEvent[] = []
  const people = envelope.person ? [envelope.person] : []
  envelope.events.forEach((sent, index) => {
    const person = personIn(sent)
    if (person) people.push(person)
    const protoKey = envelope.mayHoldProtoKey ? findProtoKey(sent) : null
    for (const event of protoKey === null ? derive(sent, pixel.settings) : [sent]) {
      const checked =
        protoKey === null ? check(event, context) : { path: protoKey, message: 'must not be a key' }
      if ('path' in checked) {
        rejected.push({ index, event_id: givenText(event, 'event_id'), ...checked })
        rejectedEvents.inc({ part: partOf(checked) })
        rejectedRows.push(rejectedRow(event, checked, context))
      } else eventRows.push(eventRow(checked.event, shared, checked.tsMillis))
    }
  })
  if (device.isBot && pixel.settings.drop_bots) {
    droppedBotEvents.inc(eventRows.length)
    eventRows.length = 0
  }

  const hems = people.map(({ hem }) => hem)
  const isOptedOut = deps.optOuts.has(pixel.organizationId, visitor.cookieId, ...hems)
  if (isOptedOut) {
    droppedOptOutEvents.inc(eventRows.length)
    eventRows.length = 0
    rejectedRows.length = 0
  }

  const { spools } = deps
  const commits: Promise<void>[] = []
  if (eventRows.length > 0) commits.push(spools.events.append(eventRows))
  if (rejectedRows.length > 0) commits.push(spools.rejected_events.append(rejectedRows))
  if (people.length > 0 && visitor.consented && !isOptedOut)
    commits.push(spools.identity_links.append(people.map((person) => linkRow(person, context))))
  await orBusy(Promise.all(commits))
  acceptedEvents.inc(eventRows.length)
  return { receipt: { cookie_id: visitor.cookieId, accepted: eventRows.length, rejected }, visitor }
}

const languageMember = ({ headers }: FastifyRequest): string =>
  `"language":${JSON.stringify(preferredLanguage(headers['accept-language']))}`

/** The pixel of that id. Throws 404 "pixel not found", 403 "pixel inactive". */
export function activePixel(pixels: PixelRegistry, pixelId: string): Pixel {
  const pixel = pixels.get(pixelId)
  if (!pixel) throw notFound.pixel()
  if (!pixel.active) throw pixelInactive()
  return pixel
}

function requireAllowedOrigin({ allowedOrigins }: Pixel, origin: string | null): void {
  if (allowedOrigins.length > 0 && (origin === null || !allowedOrigins.includes(origin))) {
    throw new ApiError(
      403,
      'origin not allowed',
      `This pixel takes no events from ${origin ?? 'an unknown origin'}.`,
    )
  }
}

/** The page's origin: browsers send it with every POST; an image request has only a Referer. */
function originOf(request: FastifyRequest): string | null {
  const { origin, referer } = request.headers
  if (origin !== undefined) return origin
  return referer !== undefined && URL.canParse(referer) ? new URL(referer).origin : null
}

function check(event: unknown, context: BeaconContext): { event: ValidEvent; tsMillis: number } | Fault {
  const valid = validateEvent(event)
  if ('path' in valid) return valid
  const tsMillis = eventMillis(valid, context)
  if (tsMillis < context.receivedMillis - eventAgeDaysMax * dayMs) {
    return { path: '/event_data/timestamp', message: `must be at most ${eventAgeDaysMax} days ago` }
  }
  return { event: valid, tsMillis }
}

function rejectedRow(event: unknown, fault: Fault, context: BeaconContext): string {
  return JSON.stringify({
    received_at: new Date(context.receivedMillis).toISOString(),
    organization_id: context.organizationId,
    project_id: context.projectId,
    pixel_id: context.pixelId,
    cookie_id: context.cookieId,
    event_id: givenText(event, 'event_id'),
    event_type: givenText(event, 'event_type'),
    path: fault.path.toWellFormed(),
    message: fault.message.toWellFormed(),
    event: JSON.stringify(event).slice(0, rejectedEventCharsMax).toWellFormed(),
  })
}

/** How sure a link is: addresses in forms have errors, and may be somebody else's. */
const confidenceOf = { identify: 1, form: 0.9 }

function linkRow({ hem, source }: Person, context: BeaconContext): string {
  return JSON.stringify({
    organization_id: context.organizationId,
    cookie_id: context.cookieId,
    hem,
    source,
    confidence: confidenceOf[source],
    pixel_id: context.pixelId,
    observed_at: new Date(context.receivedMillis).toISOString(),
  })
}

/** The part of an event that a fault lies in: "event_type", "event_data/timestamp", …; never a sender's own key. */
const partOf = ({ path }: Fault): string =>
  path.endsWith('/__proto__') ? '__proto__' : path.split('/').slice(1, 3).join('/') || 'event'

/** A text of an event that may not be one. */
function givenText(event: unknown, key: 'event_id' | 'event_type'): string | null {
  const value = isObject(event) ? event[key] : undefined
  return typeof value === 'string' ? value.slice(0, 100).toWellFormed() : null
}
