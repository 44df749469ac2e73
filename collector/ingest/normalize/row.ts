import type { ValidEvent } from '../beacon/validate.ts'
import { unmarkLongIntegers, withExponents } from './exactNumbers.ts'
import { numberOf, wellFormed, wellFormedJson } from './text.ts'

/** What all events of one beacon share. */
export interface BeaconContext {
  organizationId: string
  projectId: string
  pixelId: string
  cookieId: string
  /** Null where nobody tells it. */
  clientIp: string | null
  /** JSON members of the columns that address and headers tell (device.ts, location.ts, language.ts). */
  deviceMembers: string
  receivedMillis: number
  /** Added to event times: the sender's clock error, 0 when it is small. */
  clockCorrectionMs: number
}

const clockToleranceMs = 60_000

/** How far to move a sender's times (design: The ingest contract, Clock): only a clock over a minute off is moved. */
export function clockCorrectionMs(receivedMillis: number, sentAtMillis: number): number {
  const offset = receivedMillis - sentAtMillis
  return Math.abs(offset) > clockToleranceMs ? offset : 0
}

/** When an event happened by our clock, epoch milliseconds; never in the future. */
export const eventMillis = (event: ValidEvent, context: BeaconContext): number =>
  Math.min(event.sentMillis + context.clockCorrectionMs, context.receivedMillis)

/** The columns that all rows of one beacon share, as JSON members with a trailing comma. */
export function sharedMembers(context: BeaconContext): string {
  return (
    `"organization_id":"${context.organizationId}","project_id":"${context.projectId}",` +
    `"pixel_id":"${context.pixelId}","cookie_id":"${context.cookieId}","client_ip":${JSON.stringify(context.clientIp)},` +
    `"received_at":"${new Date(context.receivedMillis).toISOString()}",${context.deviceMembers},`
  )
}

/** What a row needs of an event, whoever captured it. */
interface RowEvent {
  event_id: string
  event_type: string
  event_data: { url: string | null; referrer?: string | null } & Record<string, unknown>
  /** Of the page it happened on, where event_data does not say so. */
  referrer?: string | undefined
}

/**
 * One line for the `events` table, without line end: the JSON object ClickHouse stores, encoded once. It begins
 * with event_id and ts_millis, where the shipper finds them without parsing (collector/ingest/spool/lines.ts).
 */
export function eventRow(event: RowEvent, shared: string, tsMillis: number): string {
  const { url, referrer, screen, viewport } = event.event_data
  const { host, path } = placeOf(url)
  const eventData = unmarkLongIntegers(withExponents(wellFormedJson(JSON.stringify(event.event_data))))
  const pageReferrer = typeof referrer === 'string' ? referrer : event.referrer
  return (
    `{"event_id":"${event.event_id}","ts_millis":${tsMillis},${shared}"event_type":"${event.event_type}",` +
    `"page_url":${columnText(url)},"page_host":${columnText(host)},"page_path":${columnText(path)},` +
    `"referrer_url":${columnText(pageReferrer || null)},${sizeMembers(screen, viewport)}` +
    `"event_data":${JSON.stringify(eventData)}}`
  )
}

/** Widths in CSS pixels, each with a trailing comma; none for what did not measure them. */
const sizeMembers = (screen: unknown, viewport: unknown): string =>
  widthMember('screen_width', screen) + widthMember('viewport_width', viewport)

function widthMember(name: string, size: unknown): string {
  const width = Math.round(numberOf((size as { width?: unknown } | null | undefined)?.width))
  return width > 0 && width < 65_536 ? `"${name}":${width},` : ''
}

/** A JSON string for a text column. */
const columnText = (text: string | null): string =>
  text === null ? 'null' : JSON.stringify(wellFormed(text))

const absoluteUrl = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#]*)([^?#]*)/i

/** Host (with port) and path of a page address; null for what has none. */
function placeOf(url: string | null): { host: string | null; path: string | null } {
  const match = url === null ? null : absoluteUrl.exec(url)
  return match ? { host: match[1]!.toLowerCase() || null, path: match[2] || '/' } : { host: null, path: null }
}
