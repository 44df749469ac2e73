import type { Counter } from 'prom-client'
import type { BeaconReceipt, RejectedEvent } from '../../../schemas/beacon.ts'
import type { IgnoreSetting } from '../../../schemas/ignored.ts'
import { ApiError, notFound, pixelInactive } from '../../api/http/errors.ts'
import {
  acceptedEvents,
  droppedBotEvents,
  droppedOptOutEvents,
  ignoredEvents,
} from '../../platform/metrics.ts'
import { toServiceUnavailable } from '../log/toServiceUnavailable.ts'
import { knownDevice, serverDevice } from '../normalize/device.ts'
import { type BeaconContext, clockCorrectionMs, sharedMembers } from '../normalize/eventRow.ts'
import { preferredLanguage } from '../normalize/language.ts'
import type { Locate } from '../normalize/location.ts'
import type { Person } from '../normalize/normalize.ts'
import { storedIp } from '../normalize/storedIp.ts'
import type { Fault } from '../normalize/validateEvent.ts'
import type { EventLogs } from '../spool/spools.ts'
import { acceptEvent, type BeaconParts } from './acceptEvent.ts'
import type { Envelope } from './beacon.ts'
import type { RecordRefusal } from './beaconRefusals.ts'
import type { BeaconRequest } from './beaconRequest.ts'
import { type ClientInfo, clientInfoOf, type VerifiesBackend } from './clientInfo.ts'
import { linkRow } from './identityLinks.ts'
import { findIgnored, type Ignored, type IgnoredTrafficRegistry } from './ignoredTraffic.ts'
import type { IdentifyLimit, IngestLimits } from './ingestLimits.ts'
import type { OptOuts } from './optOutRegistry.ts'
import type { Pixel, PixelRegistry } from './pixelRegistry.ts'
import { rejectedEntry, rejectedRow } from './rejected.ts'
import type { TrackingPlanRegistry } from './trackingPlans.ts'
import { type DailySalt, type Visitor, visitorOf } from './visitor.ts'

/** Dependencies of accepting beacons; openIngest.ts creates them. */
export interface BeaconDeps {
  pixels: PixelRegistry
  optOuts: OptOuts
  ignoredTraffic: IgnoredTrafficRegistry
  trackingPlans: TrackingPlanRegistry
  salt: DailySalt
  locate: Locate
  /** The log of each table that ingest writes. */
  logs: EventLogs
  limits: IngestLimits
  identifyLimit: IdentifyLimit
  verifiesBackend: VerifiesBackend
  recordRefusal: RecordRefusal
}

export interface AcceptedBeacon {
  receipt: BeaconReceipt
  visitor: Visitor
}

/**
 * Accepts a beacon. All ways in call it: fastPath.ts, beaconRoutes.ts, resendRoute.ts and
 * segment/segmentRoutes.ts. Its steps:
 *
 *   1. Who sends: the pixel, a verified back end or a browser, the origin, the rate limits.
 *   2. The time of receipt. From here to step 5 only memory is used: the spool refuses rows that took long.
 *   3. The columns that all rows of the beacon share.
 *   4. Rows: each event is accepted, rejected, or ignored by a setting of the project; an identity becomes a link.
 *   5. Nothing is kept of a visitor who has opted out, nor of a bot if the pixel drops bots.
 *   6. The logs keep all rows; the promise resolves when they are durable.
 *
 * `verifiesBackend` is given when the request has a key, and decides whether the key is valid for the pixel. Throws 404
 * "pixel not found", 403 "pixel inactive" or "origin not allowed", 429 "rate_limited", and 503 "busy". After 503 the
 * sender repeats the beacon; events that were kept from it are not stored twice.
 */
export async function acceptBeacon(
  deps: BeaconDeps,
  request: BeaconRequest,
  envelope: Envelope,
  verifiesBackend?: (pixel: Pixel) => Promise<boolean>,
): Promise<AcceptedBeacon> {
  const pixel = activePixel(deps.pixels, envelope.pixel_id)
  const isVerifiedBackend = verifiesBackend !== undefined && (await verifiesBackend(pixel))
  const clientInfo = clientInfoOf(request, envelope, isVerifiedBackend)
  // A back end has no page, so it sends no origin.
  if (!isVerifiedBackend) requireAllowedOrigin(pixel, originOf(request))
  const limited = deps.limits(pixel.pixelId, clientInfo.ip)
  if (limited) await limited
  const namesNoBrowser = isVerifiedBackend && envelope.user_agent === undefined
  const device = (namesNoBrowser ? serverDevice : knownDevice)(clientInfo.userAgent)
  // Await no store and no timer between this call and `append`, because the spool refuses late rows.
  const receivedMillis = deps.logs.events.receive()
  const visitor = visitorOf(
    request,
    clientInfo,
    pixel,
    { cookieId: envelope.cookie_id, consent: envelope.consent },
    deps.salt.current(),
  )
  const parts = beaconParts(deps, request, {
    pixel,
    clientInfo,
    device,
    visitor,
    envelope,
    receivedMillis,
  })
  const rules = deps.ignoredTraffic.rulesOf(pixel.projectId)
  const ignored = (rules && findIgnored(rules, request, clientInfo, envelope)) ?? null
  const rows = await rowsOf(envelope, ignored, parts, (person) =>
    linkRow(person, pixel, parts.context, () => deps.identifyLimit(clientInfo.ip)),
  )

  const dropReason = findDropReason(deps, pixel, device.isBot, [visitor.cookieId, ...rows.hems])
  if (dropReason) {
    dropReason.dropped.inc(rows.events.length)
    return { receipt: allRejected(visitor, envelope.events, dropReason), visitor }
  }

  const { logs } = deps
  const commits: Promise<void>[] = []
  if (rows.events.length > 0) commits.push(logs.events.append(rows.events, receivedMillis))
  if (rows.rejected.length > 0) commits.push(logs.rejected_events.append(rows.rejected))
  if (rows.links.length > 0 && visitor.consented)
    commits.push(logs.identity_links.append(rows.links))
  if (ignored) commits.push(noteIgnored(deps, pixel, ignored))
  await toServiceUnavailable<unknown>(commits.length === 1 ? commits[0]! : Promise.all(commits))
  acceptedEvents.inc(rows.events.length)
  const { rejectedEvents: rejected, hemFault } = rows
  const receipt = receiptOf(visitor, envelope, { rejected, hemFault, ignored, isVerifiedBackend })
  return { receipt, visitor }
}

/** The rows of a beacon for each log, and the faults that its receipt reports. */
interface BeaconRows {
  events: string[]
  rejected: string[]
  links: string[]
  /** Of the people whom the beacon identifies. */
  hems: string[]
  rejectedEvents: RejectedEvent[]
  /** Why the person of the envelope was rejected. */
  hemFault: Fault | null
}

/**
 * Converts the events of a beacon to rows, except those that the project ignores. `linkTo` makes the row that links the
 * visitor to a person, or returns why it cannot; an identify event is rejected with its link.
 */
async function rowsOf(
  { person, events, exactEvents, faults }: Envelope,
  ignored: Ignored | null,
  parts: BeaconParts,
  linkTo: (person: Person) => Promise<string | Fault>,
): Promise<BeaconRows> {
  const { context } = parts
  const rows: BeaconRows = {
    events: [],
    rejected: [],
    links: [],
    hems: [],
    rejectedEvents: [],
    hemFault: null,
  }
  const link = async (to: Person): Promise<Fault | null> => {
    rows.hems.push(to.hem)
    const made = await linkTo(to)
    if (typeof made !== 'string') return made
    rows.links.push(made)
    return null
  }
  if (person && !ignored?.hem) rows.hemFault = await link(person)
  if (person && rows.hemFault)
    rows.rejected.push(rejectedRow({ type: 'identify', hem: person.hem }, rows.hemFault, context))
  for (let index = 0; index < events.length; index++) {
    if (ignored?.events.has(index)) continue
    const event = events[index]
    // First checks the event with the digits of long integers as texts. If a schema requires a number there,
    // this fails, and the original event is checked.
    const exact = exactEvents && !faults?.has(index) && acceptEvent(exactEvents[index], parts, true)
    const made =
      faults?.get(index) ?? (exact && !('path' in exact) ? exact : acceptEvent(event, parts))
    const fault = 'path' in made ? made : made.person && (await link(made.person))
    if (fault) {
      rows.rejectedEvents.push(rejectedEntry(index, event, fault))
      rows.rejected.push(rejectedRow(event, fault, context))
    } else if ('rows' in made) {
      rows.events.push(...made.rows)
      for (const { event, fault } of made.refused)
        rows.rejected.push(rejectedRow(event, fault, context))
    }
  }
  return rows
}

/** Returns the common parts of a beacon's rows. */
function beaconParts(
  { locate, trackingPlans }: BeaconDeps,
  request: BeaconRequest,
  {
    pixel,
    clientInfo,
    device,
    visitor,
    envelope,
    receivedMillis,
  }: {
    pixel: Pixel
    clientInfo: ClientInfo
    device: ReturnType<typeof knownDevice>
    visitor: Visitor
    envelope: Envelope
    receivedMillis: number
  },
): BeaconParts {
  const context: BeaconContext = {
    organizationId: pixel.organizationId,
    projectId: pixel.projectId,
    pixelId: pixel.pixelId,
    cookieId: visitor.cookieId,
    clientIp: storedIp(clientInfo.ip, pixel.settings.ip, visitor.consented),
    deviceMembers: `${device.members},${locate(clientInfo.ip)},${languageMember(request)}`,
    receivedMillis,
    clockCorrectionMs: clockCorrectionMs(receivedMillis, envelope.sentAtMillis),
  }
  return {
    context,
    sharedColumns: sharedMembers(context),
    settings: pixel.settings,
    plan: trackingPlans.planOf(pixel.projectId),
    reportUnexpected: (error) => request.log.error(error, 'an event that could not be read'),
  }
}

/** Returns the response to a beacon whose rows are on disk. */
function receiptOf(
  { cookieId }: Visitor,
  { events }: Envelope,
  {
    rejected,
    hemFault,
    ignored,
    isVerifiedBackend,
  }: {
    rejected: RejectedEvent[]
    hemFault: Fault | null
    ignored: Ignored | null
    isVerifiedBackend: boolean
  },
): BeaconReceipt {
  const accepted = events.length - rejected.length - (ignored?.events.size ?? 0)
  const receipt: BeaconReceipt = { cookie_id: cookieId, accepted, rejected }
  if (hemFault) receipt.hem_rejected = hemFault
  if (isVerifiedBackend) receipt.vouched = true
  if (ignored) {
    receipt.ignored = ignored.events.size
    receipt.ignored_by = [...ignored.settings]
  }
  return receipt
}

const languageMember = ({ headers }: BeaconRequest): string =>
  `"language":${JSON.stringify(preferredLanguage(headers['accept-language']))}`

/** The reason to drop all events of a beacon, and the counter for it. */
interface DropReason {
  code: RejectedEvent['code']
  message: string
  dropped: Counter
}

/** Returns the reason to drop a beacon, including its rejected events; undefined if it may be stored. */
function findDropReason(
  { optOuts }: BeaconDeps,
  { organizationId, settings }: Pixel,
  isBot: boolean,
  ids: string[],
): DropReason | undefined {
  if (optOuts.has(organizationId, ...ids)) {
    const message = 'must not be of a visitor who has opted out'
    return { code: 'visitor_opted_out', message, dropped: droppedOptOutEvents }
  }
  if (isBot && settings.drop_bots) {
    const message = 'must not be of a bot: this pixel drops them'
    return { code: 'bot_dropped', message, dropped: droppedBotEvents }
  }
}

/** Counts the ignored events, and records which settings ignored them. */
async function noteIgnored(
  { recordRefusal }: BeaconDeps,
  pixel: Pixel,
  ignored: Ignored,
): Promise<void> {
  for (const setting of ignored.events.values()) ignoredEvents.inc({ setting })
  await Promise.all(
    [...ignored.settings].map((setting) => recordRefusal(pixel, setting, ignoredMessages[setting])),
  )
}

const ignoredMessages: Record<IgnoreSetting, string> = {
  ignored_networks: 'The project ignores the network that sent the events.',
  ignored_hosts: 'The project ignores the host of the page that sent the events.',
  ignored_paths: 'The project ignores the path of the page that sent the events.',
}

const allRejected = (
  { cookieId }: Visitor,
  events: readonly unknown[],
  { code, message }: DropReason,
): BeaconReceipt => ({
  cookie_id: cookieId,
  accepted: 0,
  rejected: events.map((event, index) => rejectedEntry(index, event, { path: '', message }, code)),
})

/** Returns the active pixel. Throws 404 "pixel not found", 403 "pixel inactive". */
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
      `This pixel does not accept events from ${origin ?? 'an unknown origin'}. Add the origin to its allowed origins.`,
    )
  }
}

/** The page's origin: browsers send it with every POST; an image request has only a Referer. */
export function originOf(request: Pick<BeaconRequest, 'headers'>): string | null {
  const { origin, referer } = request.headers
  if (origin !== undefined) return origin
  return referer !== undefined && URL.canParse(referer) ? new URL(referer).origin : null
}
