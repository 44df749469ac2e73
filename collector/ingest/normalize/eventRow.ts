import { storedNumbers } from './exactNumbers.ts'
import { isText, numberOf, wellFormed, wellFormedJson } from './text.ts'
import type { ValidEvent } from './validateEvent.ts'

/** Common values of all events of one beacon. */
export interface BeaconContext {
  organizationId: string
  projectId: string
  pixelId: string
  cookieId: string
  /** The address to store (address.ts), not the address to limit by; null if unknown or not stored. */
  clientIp: string | null
  /** JSON members of the columns from address and headers (device.ts, address.ts). */
  deviceMembers: string
  receivedMillis: number
  /** Added to event times: the sender's clock error, 0 when it is small. */
  clockCorrectionMs: number
}

/** A sender's clock that is off by at most this is not corrected. */
export const uncorrectedClockMs = 60_000

/** Returns the correction of a sender's times. */
export function clockCorrectionMs(receivedMillis: number, sentAtMillis: number): number {
  const offset = receivedMillis - sentAtMillis
  return Math.abs(offset) > uncorrectedClockMs ? offset : 0
}

/** Returns when an event happened by our clock, epoch milliseconds; never in the future. */
export const eventMillis = (event: ValidEvent, context: BeaconContext): number =>
  Math.min(event.sentMillis + context.clockCorrectionMs, context.receivedMillis)

/** Returns the common columns of a beacon's rows, as JSON members with a trailing comma. */
export function sharedMembers(context: BeaconContext): string {
  return (
    `"organization_id":"${context.organizationId}","project_id":"${context.projectId}",` +
    `"pixel_id":"${context.pixelId}","cookie_id":"${context.cookieId}","client_ip":${JSON.stringify(context.clientIp)},` +
    `"received_at":"${isoOf(context.receivedMillis)}",${context.deviceMembers},`
  )
}

/** Cached, because many beacons are received in one millisecond. */
let lastMillis = Number.NaN
let lastIso = ''
function isoOf(millis: number): string {
  if (millis !== lastMillis) {
    lastIso = new Date(millis).toISOString()
    lastMillis = millis
  }
  return lastIso
}

/** The parts of an event that a row needs, from any source. */
interface RowEvent {
  event_id: string
  event_type: string
  event_data: { url: string | null; referrer?: string | null } & Record<string, unknown>
  /** Referrer of the event's page, if event_data does not contain it. */
  referrer?: string | undefined
}

/**
 * Returns one line for the `events` table, without line end. It begins with event_id and ts_millis, so that
 * the shipper finds them without parsing (collector/ingest/spool/rowFields.ts). The columns precede
 * event_data, an object whose bytes ClickHouse stores unchanged (input_format_json_read_objects_as_strings).
 */
export function eventRow(event: RowEvent, shared: string, tsMillis: number): string {
  const { url, referrer, screen, viewport } = event.event_data
  const eventData = storedNumbers(wellFormedJson(JSON.stringify(event.event_data)))
  const pageReferrer = isText(referrer) ? referrer : event.referrer
  return (
    `{"event_id":"${event.event_id}","ts_millis":${tsMillis},${shared}"event_type":"${event.event_type}",` +
    pageMembers(url) +
    `"referrer_url":${columnText(pageReferrer || null)},${sizeMembers(screen, viewport)}` +
    `"event_data":${eventData}}`
  )
}

/** Returns widths in CSS pixels, each with a trailing comma; empty if they were not measured. */
const sizeMembers = (screen: unknown, viewport: unknown): string =>
  widthMember('screen_width', screen) + widthMember('viewport_width', viewport)

function widthMember(name: string, size: unknown): string {
  const width = Math.round(numberOf((size as { width?: unknown } | null | undefined)?.width))
  return width > 0 && width < 65_536 ? `"${name}":${width},` : ''
}

/** Columns of pages by URL, cached because a site's events repeat few URLs. */
const pageColumns = new Map<string | null, string>()
let pageColumnsChars = 0
const pageColumnsCharsMax = 4 * 1024 * 1024

function pageMembers(url: string | null): string {
  const cached = pageColumns.get(url)
  if (cached !== undefined) return cached
  const { host, path } = hostAndPathOf(url)
  const members = `"page_url":${columnText(url)},"page_host":${columnText(host)},"page_path":${columnText(path)},`
  pageColumnsChars += (url?.length ?? 0) + members.length
  // The cache is full: common values return at once.
  if (pageColumnsChars > pageColumnsCharsMax) {
    pageColumns.clear()
    pageColumnsChars = 0
  }
  pageColumns.set(url, members)
  return members
}

const columnText = (text: string | null): string =>
  text === null ? 'null' : JSON.stringify(wellFormed(text))

const absoluteUrl = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#]*)([^?#]*)/i

/** Returns host (with port) and path of a page URL; null if it has none. */
function hostAndPathOf(url: string | null): { host: string | null; path: string | null } {
  const match = url === null ? null : absoluteUrl.exec(url)
  return match
    ? { host: match[1]!.toLowerCase() || null, path: match[2] || '/' }
    : { host: null, path: null }
}
