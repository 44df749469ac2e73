import type { Counter } from 'prom-client'
import type { BeaconReceipt, RejectedEvent } from '../../../schemas/beacon.ts'
import { keylessAgeDaysMax } from '../../../schemas/eventAge.ts'
import type { IgnoreSetting } from '../../../schemas/ignored.ts'
import { busy } from '../../api/http/errors.ts'
import {
  acceptedEvents,
  droppedBotEvents,
  droppedOptOutEvents,
  ignoredEvents,
} from '../../platform/metrics.ts'
import { LogUnavailable } from '../log/eventLog.ts'
import { type Locate, storedIp } from '../normalize/address.ts'
import { cachedDevice, preferredLanguage, serverDevice } from '../normalize/device.ts'
import { type BeaconContext, clockCorrectionMs, sharedMembers } from '../normalize/eventRow.ts'
import type { Person } from '../normalize/normalize.ts'
import { markedAsSpam, spamIn } from '../normalize/spamReferrers.ts'
import { eventAgeDaysMax, type Fault } from '../normalize/validateEvent.ts'
import type { EventLogs } from '../spool/spools.ts'
import { acceptEvent, dropped, type StepContext } from './acceptEvent.ts'
import type { BeaconRequest, Envelope } from './beacon.ts'
import {
  type ClientInfo,
  clientInfoOf,
  requireAllowedOrigin,
  type VerifiesBackend,
} from './clientInfo.ts'
import { linkRow } from './identityLinks.ts'
import { findIgnored, type Ignored, type IgnoredTrafficRegistry } from './ignoredTraffic.ts'
import type { IdentifyLimit, IngestLimits } from './ingestLimits.ts'
import type { OptOuts } from './optOutRegistry.ts'
import { activePixel, type Pixel, type PixelRegistry } from './pixelRegistry.ts'
import {
  countRejected,
  type RecordRefusal,
  rejectedEntry,
  rejectedRow,
  type StoreRejected,
} from './rejectedEvents.ts'
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
  logs: EventLogs
  limits: IngestLimits
  identifyLimit: IdentifyLimit
  verifiesBackend: VerifiesBackend
  recordRefusal: RecordRefusal
  storeRejected: StoreRejected
}

interface AcceptedBeacon {
  receipt: BeaconReceipt
  visitor: Visitor
}

/**
 * Accepts a beacon. All ways in call it: fastPath.ts, beaconRoutes.ts, resendRoute.ts and
 * segment/segmentRoutes.ts. acceptEvent.ts lists the steps of each event.
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
  const sender = await identifySender(deps, request, envelope, verifiesBackend)
  await admitSender(deps, request, envelope, sender)
  const beacon = openBeacon(deps, request, envelope, sender)
  const rows = await acceptEvents(deps, beacon)
  const dropReason = findDropReason(deps, beacon, rows)
  if (dropReason) dropReason.dropped.inc(rows.events.length)
  else await storeRows(deps, beacon, rows)
  return { receipt: receiptOf(beacon, rows, dropReason), visitor: beacon.visitor }
}

/** The pixel of a beacon, and the browser or back end that sent it. */
interface BeaconSender {
  pixel: Pixel
  clientInfo: ClientInfo
}

async function identifySender(
  { pixels }: BeaconDeps,
  request: BeaconRequest,
  envelope: Envelope,
  verifiesBackend: ((pixel: Pixel) => Promise<boolean>) | undefined,
): Promise<BeaconSender> {
  const pixel = activePixel(pixels, envelope.pixel_id)
  const isVerifiedBackend = verifiesBackend !== undefined && (await verifiesBackend(pixel))
  return { pixel, clientInfo: clientInfoOf(request, envelope, isVerifiedBackend) }
}

/** Verified back ends have no limit of their address and, without a page, no origin. */
async function admitSender(
  { limits }: BeaconDeps,
  request: BeaconRequest,
  { events }: Envelope,
  { pixel, clientInfo }: BeaconSender,
): Promise<void> {
  if (clientInfo.isVerifiedBackend) return
  requireAllowedOrigin(pixel, request)
  await limits.admit(clientInfo.ip, Math.max(1, events.length))
}

/** An admitted beacon with its time of receipt. */
interface Beacon extends BeaconSender, StepContext {
  envelope: Envelope
  visitor: Visitor
  isBot: boolean
}

/**
 * Sets the time of receipt. Await no store and no timer between this call and the `append` of storeRows, because the
 * spool refuses late rows.
 */
function openBeacon(
  deps: BeaconDeps,
  request: BeaconRequest,
  envelope: Envelope,
  { pixel, clientInfo }: BeaconSender,
): Beacon {
  const { isVerifiedBackend } = clientInfo
  const namesNoBrowser = isVerifiedBackend && envelope.user_agent === undefined
  const cached = (namesNoBrowser ? serverDevice : cachedDevice)(clientInfo.userAgent)
  const spam = spamIn(envelope.events)
  const device = spam ? { isBot: true, members: markedAsSpam(cached.members, spam) } : cached
  const receivedMillis = deps.logs.events.receive()
  const visitor = visitorOf(
    request,
    clientInfo,
    pixel,
    { cookieId: envelope.cookie_id, consent: envelope.consent },
    deps.salt.current(),
  )
  const context: BeaconContext = {
    organizationId: pixel.organizationId,
    projectId: pixel.projectId,
    pixelId: pixel.pixelId,
    cookieId: visitor.cookieId,
    clientIp: storedIp(clientInfo.ip, pixel.settings.ip, visitor.consented),
    deviceMembers: `${device.members},${deps.locate(clientInfo.ip)},${languageMember(request)}`,
    receivedMillis,
    clockCorrectionMs: clockCorrectionMs(receivedMillis, envelope.sentAtMillis),
  }
  const rules = deps.ignoredTraffic.rulesOf(pixel.projectId)
  return {
    pixel,
    clientInfo,
    envelope,
    visitor,
    isBot: device.isBot,
    context,
    sharedColumns: sharedMembers(context),
    settings: pixel.settings,
    ageDaysMax: isVerifiedBackend ? eventAgeDaysMax : keylessAgeDaysMax,
    plan: deps.trackingPlans.planOf(pixel.projectId),
    ignored: (rules && findIgnored(rules, request, clientInfo, envelope)) ?? null,
    faults: envelope.faults,
    reportUnexpected: (error) => request.log.error(error, 'an event that could not be read'),
  }
}

const languageMember = ({ headers }: BeaconRequest): string =>
  `"language":${JSON.stringify(preferredLanguage(headers['accept-language']))}`

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

/** Converts the events of a beacon to rows. An identify event is rejected with its link. */
async function acceptEvents(deps: BeaconDeps, beacon: Beacon): Promise<BeaconRows> {
  const { envelope, ignored } = beacon
  const { person, events, exactEvents } = envelope
  const rows: BeaconRows = {
    events: [],
    rejected: [],
    links: [],
    hems: [],
    rejectedEvents: [],
    hemFault: null,
  }
  if (person && !ignored?.hem) rows.hemFault = await linkPerson(deps, beacon, rows, person)
  if (person && rows.hemFault)
    reject(beacon, rows, { type: 'identify', hem: person.hem }, rows.hemFault)
  for (let index = 0; index < events.length; index++) {
    const event = events[index]
    const accepted = acceptEvent(event, exactEvents?.[index], beacon, index)
    if (accepted === dropped) continue
    const fault =
      'path' in accepted
        ? accepted
        : accepted.person && (await linkPerson(deps, beacon, rows, accepted.person))
    if (fault) {
      rows.rejectedEvents.push(rejectedEntry(index, event, fault))
      reject(beacon, rows, event, fault)
    } else if ('rows' in accepted) {
      rows.events.push(...accepted.rows)
      for (const { event, fault } of accepted.refused) reject(beacon, rows, event, fault)
    }
  }
  return rows
}

function reject({ context }: Beacon, { rejected }: BeaconRows, event: unknown, fault: Fault): void {
  countRejected(fault)
  rejected.push(rejectedRow(event, fault, context))
}

/** Links the visitor to a person. Returns the reason if it is refused. */
async function linkPerson(
  { identifyLimit }: BeaconDeps,
  { pixel, context, clientInfo }: Beacon,
  { hems, links }: BeaconRows,
  person: Person,
): Promise<Fault | null> {
  hems.push(person.hem)
  const link = await linkRow(person, pixel, context, () => identifyLimit(clientInfo.ip))
  if (typeof link !== 'string') return link
  links.push(link)
  return null
}

/** The reason to drop all events of a beacon, and the counter for it. */
interface DropReason {
  code: RejectedEvent['code']
  message: string
  dropped: Counter
}

/** Returns the reason to drop a beacon, including its rejected events; null if it may be stored. */
function findDropReason(
  { optOuts }: BeaconDeps,
  { pixel, isBot, visitor }: Beacon,
  { hems }: BeaconRows,
): DropReason | null {
  // First, so that the answer to a bot does not depend on opt-outs either.
  if (isBot && pixel.settings.drop_bots) {
    const message = 'must not be of a bot: this pixel drops them'
    return { code: 'bot_dropped', message, dropped: droppedBotEvents }
  }
  if (optOuts.has(pixel.organizationId, visitor.cookieId, ...hems)) {
    const message = 'must not be of a visitor who has opted out'
    return { code: 'visitor_opted_out', message, dropped: droppedOptOutEvents }
  }
  return null
}

/** Counts the events on the limit of the pixel, and stores all rows. Resolves when they are durable. */
async function storeRows(deps: BeaconDeps, beacon: Beacon, rows: BeaconRows): Promise<void> {
  const { logs, limits } = deps
  const { pixel, clientInfo, context, ignored, visitor } = beacon
  const { events, rejected, links } = rows
  const sender = { pixelId: pixel.pixelId, isVerifiedBackend: clientInfo.isVerifiedBackend }
  if (events.length > 0) await limits.countStored(sender, events.length)
  const commits: Promise<void>[] = []
  if (events.length > 0) commits.push(logs.events.append(events, context.receivedMillis))
  if (rejected.length > 0) commits.push(deps.storeRejected(sender, rejected))
  if (links.length > 0 && visitor.consented) commits.push(logs.identity_links.append(links))
  if (ignored) commits.push(noteIgnored(deps, pixel, ignored))
  await orServiceUnavailable<unknown>(commits.length === 1 ? commits[0]! : Promise.all(commits))
  acceptedEvents.inc(events.length)
}

const retrySeconds = 5

/** Returns the result of `append`, or throws 503 "busy" if the log cannot store rows now. */
export async function orServiceUnavailable<T>(appending: Promise<T>): Promise<T> {
  try {
    return await appending
  } catch (error) {
    if (error instanceof LogUnavailable)
      throw busy('The collector cannot store more events now. Retry later.', retrySeconds)
    throw error
  }
}

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

function receiptOf(
  { visitor: { cookieId }, envelope: { events }, clientInfo, ignored }: Beacon,
  { rejectedEvents: rejected, hemFault }: BeaconRows,
  dropReason: DropReason | null,
): BeaconReceipt {
  const { isVerifiedBackend } = clientInfo
  // An opt-out is reported to back ends alone: anybody can send the id of a browser or a person.
  if (dropReason && (isVerifiedBackend || dropReason.code !== 'visitor_opted_out')) {
    const { code, message } = dropReason
    const fault = { path: '', message }
    return {
      cookie_id: cookieId,
      accepted: 0,
      rejected: events.map((event, index) => rejectedEntry(index, event, fault, code)),
    }
  }
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
