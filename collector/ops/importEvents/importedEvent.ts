import { isIP } from 'node:net'
import { urlLengthMax } from '../../../schemas/events/common.ts'
import { isUuid } from '../../../schemas/uuid.ts'
import { acceptEvent, type StepContext } from '../../ingest/beacon/acceptEvent.ts'
import type { IgnoredTrafficRegistry } from '../../ingest/beacon/ignoredTraffic.ts'
import type { OptOuts } from '../../ingest/beacon/optOutRegistry.ts'
import type { Pixel, PixelRegistry } from '../../ingest/beacon/pixelRegistry.ts'
import { type Locate, locationMembers, storedIp } from '../../ingest/normalize/address.ts'
import {
  cachedDevice,
  preferredLanguage,
  userAgentCharsMax,
} from '../../ingest/normalize/device.ts'
import { type BeaconContext, sharedMembers } from '../../ingest/normalize/eventRow.ts'
import { withoutSecrets } from '../../ingest/normalize/secrets.ts'
import { markedAsSpam, spamDomainOf } from '../../ingest/normalize/spamReferrers.ts'
import { cut } from '../../ingest/normalize/text.ts'
import type { Fault } from '../../ingest/normalize/validateEvent.ts'
import { secretUuidOf } from '../../platform/uuidOfDigest.ts'
import type { ImportedRow } from './columns.ts'
import { type Data, dataOfRow } from './eventData.ts'
import { readTime } from './readTime.ts'

interface ImportedEvent {
  eventId: string
  tsMillis: number
  /** The line for the `events` table, without `spool_id`, `seq` and line end. */
  row: string
}

export interface ImportDeps {
  /** The pixel of rows without `pixel_id`. Rows may name other pixels of its project. */
  pixel: Pixel
  pixels: PixelRegistry
  optOuts: OptOuts
  ignoredTraffic: IgnoredTrafficRegistry
  locate: Locate
  /** The project whose export the file is, if it is another one. */
  fromProjectId: string | null
}

/** Counts equal events of a chunk, so that each has an id of its own, and the same one in each import. */
type CountEqual = (eventId: string) => number

export function createCountEqual(): CountEqual {
  const counts = new Map<string, number>()
  return (eventId) => {
    const count = counts.get(eventId) ?? 0
    counts.set(eventId, count + 1)
    return count
  }
}

/** The maximum age of imported events. One ClickHouse insert supports at most 100 monthly partitions. */
const importAgeDaysMax = 2_922
const clockToleranceMs = 60_000
const textCharsMax = 200

/** Validates a row like a beacon. Returns a fault for a skipped row. */
export function importedEvent(
  deps: ImportDeps,
  row: ImportedRow,
  nowMillis: number,
  countEqual: CountEqual,
): ImportedEvent | Fault {
  const pixel = pixelOf(deps, row)
  if ('path' in pixel) return pixel
  const { cookie_id } = row
  if (!isUuid(cookie_id)) return { path: '/cookie_id', message: 'must be a UUID' }
  const cookieId = cookie_id.toLowerCase()
  const time = readTime(row)
  if (time !== null && typeof time === 'object') return time
  const made = dataOfRow(row, time)
  if ('path' in made) return made
  const tsMillis = time ?? Date.parse(String(made.data.timestamp))
  if (tsMillis > nowMillis + clockToleranceMs)
    return { path: '/timestamp', message: 'must not be in the future' }
  const ip = row.client_ip ?? null
  if (ip !== null && (typeof ip !== 'string' || isIP(ip) === 0))
    return { path: '/client_ip', message: 'must be an IPv4 or IPv6 address' }
  const known = deviceOf(row)
  if ('path' in known) return known
  const spam = row.is_bot === undefined ? spamDomainOf(made.data.referrer) : null
  const device = spam ? { isBot: true, members: markedAsSpam(known.members, spam) } : known
  const refusal = findRefusal(deps, pixel, { cookieId, ip, isBot: device.isBot, data: made.data })
  if (refusal) return refusal
  const place = placeMembers(deps.locate, row, ip)
  if (typeof place === 'object') return place

  const context: BeaconContext = {
    organizationId: pixel.organizationId,
    projectId: pixel.projectId,
    pixelId: pixel.pixelId,
    cookieId,
    clientIp: ip === null ? null : knownIp(ip, pixel.settings.ip),
    deviceMembers: `${device.members},${place},"language":${JSON.stringify(languageOf(row))}`,
    receivedMillis: nowMillis,
    clockCorrectionMs: tsMillis - Date.parse(String(made.data.timestamp)) || 0,
  }
  const ids = row.identity ?? ['content', cookieId, tsMillis, row.event_type, made.data]
  const event_id = row.event_id ?? derivedId(pixel, ids, countEqual)
  return storedEvent(event_id, row, made, context, pixel, tsMillis)
}

function storedEvent(
  event_id: unknown,
  row: ImportedRow,
  { data, exact }: { data: Data; exact?: Data | undefined },
  context: BeaconContext,
  pixel: Pixel,
  tsMillis: number,
): ImportedEvent | Fault {
  const { event_type } = row
  let unexpected: unknown
  const parts: StepContext = {
    context,
    sharedColumns: sharedMembers(context),
    settings: pixel.settings,
    // The plan describes new events of a site, not its history.
    plan: undefined,
    ageDaysMax: importAgeDaysMax,
    referrer: referrerOf(row, pixel.settings),
    // findRefusal has checked it.
    ignored: null,
    faults: undefined,
    reportUnexpected: (error) => {
      unexpected = error
    },
  }
  const accepted = acceptEvent(
    { event_id, event_type, event_data: data },
    exact && { event_id, event_type, event_data: exact },
    parts,
  )
  if (unexpected) throw unexpected
  if ('path' in accepted) return accepted
  return { eventId: String(event_id).toLowerCase(), tsMillis, row: accepted.rows[0]! }
}

/** The referrer of the page of an event whose data has none, such as a click. */
const referrerOf = ({ referrer_url }: ImportedRow, settings: Pixel['settings']) =>
  typeof referrer_url === 'string' && referrer_url !== ''
    ? withoutSecrets(referrer_url.slice(0, urlLengthMax), settings)
    : undefined

/** A cache, because parsing an address takes as long as validating an event. */
const knownIps = new Map<string, string | null>()
const knownIpsMax = 10_000
function knownIp(ip: string, setting: Pixel['settings']['ip']): string | null {
  const key = `${setting} ${ip}`
  const known = knownIps.get(key)
  if (known !== undefined) return known
  const stored = storedIp(ip, setting, true)
  if (knownIps.size >= knownIpsMax) knownIps.clear()
  knownIps.set(key, stored)
  return stored
}

/** Returns the pixel of a row, which must be active and in the project. */
function pixelOf({ pixel, pixels, fromProjectId }: ImportDeps, row: ImportedRow): Pixel | Fault {
  const { source, project_id, pixel_id } = row
  if (source !== undefined && source !== 'pixel')
    return { path: '/source', message: 'must be pixel: Footfall imports no events of campaigns' }
  if (fromProjectId !== null)
    return String(project_id).toLowerCase() === fromProjectId
      ? pixel
      : { path: '/project_id', message: `must be ${fromProjectId}, the project of --from-project` }
  if (project_id !== undefined && String(project_id).toLowerCase() !== pixel.projectId)
    return {
      path: '/project_id',
      message: `must be ${pixel.projectId}, the project of --pixel. To import the events of another project, name it with --from-project`,
    }
  if (pixel_id === undefined) return pixel
  const named = pixels.get(String(pixel_id).toLowerCase())
  return named?.projectId === pixel.projectId && named.active
    ? named
    : { path: '/pixel_id', message: 'must be an active pixel of the project of --pixel' }
}

/** Returns the reason for which a beacon with the event would be dropped. */
function findRefusal(
  { optOuts, ignoredTraffic }: ImportDeps,
  { organizationId, projectId, settings }: Pixel,
  {
    cookieId,
    ip,
    isBot,
    data,
  }: { cookieId: string; ip: string | null; isBot: boolean; data: Data },
): Fault | undefined {
  if (optOuts.has(organizationId, cookieId))
    return { path: '/cookie_id', message: 'must not be of a visitor who has opted out' }
  if (isBot && settings.drop_bots)
    return { path: '/user_agent', message: 'must not be of a bot: this pixel drops them' }
  const rules = ignoredTraffic.rulesOf(projectId)
  if (!rules) return undefined
  if (ip !== null && rules.ignoresAddress(ip))
    return { path: '/client_ip', message: 'must not be in ignored_networks of the project' }
  const setting = rules.settingOfPage(data.url)
  if (setting)
    return { path: '/event_data/url', message: `must not be in ${setting} of the project` }
}

const deviceColumns = ['browser', 'browser_version', 'os', 'os_version', 'bot_reason'] as const
const deviceTypes = ['desktop', 'mobile', 'tablet', 'smarttv', 'console', 'wearable', 'embedded']

/**
 * Returns the device columns: those of a row that says whether it is a bot's, as an export of Footfall does. Later lists
 * of bots and browsers do not change its figures. Other rows have them from their User-Agent.
 */
function deviceOf(row: ImportedRow): { isBot: boolean; members: string } | Fault {
  const { user_agent = null } = row
  if (!isTextOrNull(user_agent)) return notText('user_agent')
  if (user_agent !== null && row.is_bot === undefined) return cachedDevice(user_agent)
  for (const column of deviceColumns) if (!isTextOrNull(row[column])) return notText(column)
  const { device_type = null, is_bot = false } = row
  if (device_type !== null && !deviceTypes.includes(device_type as string))
    return { path: '/device_type', message: `must be one of ${deviceTypes.join(', ')}` }
  const isBot = is_bot === true || /^(?:true|1)$/i.test(String(is_bot))
  const texts = deviceColumns.map((column) => [column, shortText(row[column])])
  const device = {
    user_agent: cut(user_agent, userAgentCharsMax)?.toWellFormed() ?? null,
    device_type,
    is_bot: isBot,
    ...Object.fromEntries(texts),
  }
  return { isBot, members: JSON.stringify(device).slice(1, -1) }
}

/** Returns the location columns: from the row, or from its IP address. */
function placeMembers(locate: Locate, row: ImportedRow, ip: string | null): string | Fault {
  const { country = null, region = null, city = null } = row
  if (country === null && region === null && city === null) return locate(ip ?? '')
  if (country !== null && !/^[A-Z]{2}$/.test(String(country)))
    return { path: '/country', message: 'must be an ISO 3166-1 alpha-2 code, such as GB' }
  if (!isTextOrNull(region)) return notText('region')
  if (!isTextOrNull(city)) return notText('city')
  return locationMembers({
    country: country as string | null,
    region: shortText(region),
    city: shortText(city),
  })
}

const isTextOrNull = (value: unknown): value is string | null =>
  value === undefined || value === null || typeof value === 'string'

const notText = (column: string): Fault => ({ path: `/${column}`, message: 'must be a string' })

const shortText = (value: unknown): string | null =>
  cut(value, textCharsMax)?.toWellFormed() ?? null

const languageOf = ({ language }: ImportedRow): string | null =>
  typeof language === 'string' ? preferredLanguage(language) : null

/** Derives the id of an event without one, so that a second import stores nothing. */
function derivedId(
  { eventIdKey }: Pixel,
  identity: readonly unknown[],
  countEqual: CountEqual,
): string {
  const first = secretUuidOf(eventIdKey, JSON.stringify(identity))
  const before = countEqual(first)
  return before === 0 ? first : secretUuidOf(eventIdKey, JSON.stringify([before, ...identity]))
}
