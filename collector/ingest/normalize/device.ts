import { isbotMatch } from 'isbot'
import { UAParser } from 'ua-parser-js'
import { checkUserAgent } from '../../../schemas/beacon.ts'

/** The device according to a User-Agent header; the columns of the field table's group "device". */
export interface Device {
  user_agent: string | null
  browser: string | null
  browser_version: string | null
  os: string | null
  os_version: string | null
  device_type: string | null
  is_bot: boolean
  bot_reason: string | null
}

const userAgentCharsMax = 1024
/** Size of keys and values, UTF-16. */
const cacheBytesMax = 8 * 1024 * 1024

interface CachedDevice {
  isBot: boolean
  /** The device columns as JSON members without braces, for rows: `"user_agent":"…","browser":…`. */
  members: string
}

/** Parsed user agents. */
const cache = new Map<string, CachedDevice>()
let cacheBytes = 0

/** Returns the row members of a user agent, and whether it is a bot's. */
export function cachedDevice(userAgent: string): CachedDevice {
  const text = userAgent.slice(0, userAgentCharsMax)
  const cached = cache.get(text)
  if (cached) return cached
  const device = readDevice(text)
  const fresh = { isBot: device.is_bot, members: JSON.stringify(device).slice(1, -1) }
  cache.set(text, fresh)
  cacheBytes += bytesOf(text, fresh)
  // The cache is full, so the oldest entries are evicted. Common user agents return at once.
  for (const [oldest, device] of cache) {
    if (cacheBytes <= cacheBytesMax) break
    cache.delete(oldest)
    cacheBytes -= bytesOf(oldest, device)
  }
  return fresh
}

/**
 * Returns the device of a beacon in which a verified back end names no visitor's browser. A program of the customer is
 * not a bot, whatever its HTTP library is called. A back end that passes on the visitor's header has the visitor's device.
 */
export function serverDevice(userAgent: string): CachedDevice {
  const cached = cachedDevice(userAgent)
  if (!cached.isBot) return cached
  const text = userAgent.slice(0, userAgentCharsMax).toWellFormed()
  return { isBot: false, members: membersWithoutBrowser(text || null) }
}

/** Row members of a sender whose browser is unknown, and who does not appear to be automated. */
export const membersWithoutBrowser = (userAgent: string | null): string =>
  `"user_agent":${JSON.stringify(userAgent)},"device_type":null,"is_bot":false`

const bytesOf = (userAgent: string, { members }: CachedDevice): number =>
  2 * (userAgent.length + members.length)

export const cachedDeviceBytes = (): number => cacheBytes

/** Parses a User-Agent header. An empty one is a bot's, because every browser sends one. */
export function readDevice(userAgent: string): Device {
  const text = userAgent.slice(0, userAgentCharsMax).toWellFormed()
  const parsed = new UAParser(text).getResult()
  const bot = botReason(text)
  return {
    user_agent: text || null,
    browser: parsed.browser.name ?? null,
    browser_version: parsed.browser.version ?? null,
    os: parsed.os.name ?? null,
    os_version: parsed.os.version ?? null,
    device_type: text === '' ? null : (parsed.device.type ?? 'desktop'),
    is_bot: bot !== null,
    bot_reason: bot,
  }
}

function botReason(userAgent: string): string | null {
  if (userAgent === '') return 'no user agent'
  if (userAgent.endsWith(checkUserAgent)) return 'test'
  const match = isbotMatch(userAgent)
  return match === null ? null : `user agent: ${match}`
}

/** Longest stored tag; "ca-ES-valencia" has fourteen characters. */
const tagCharsMax = 35

/** A language, with its script and region if given. */
const tagPattern = /^\s*([a-z]{2,3})(?:-([a-z]{4}))?(?:-([a-z]{2}|\d{3}))?(?=[-,;\s]|$)/i

/**
 * Returns the language that a browser prefers, "en-GB", from its Accept-Language header, in the form of RFC
 * 5646; null if it names none.
 */
export function preferredLanguage(acceptLanguage: string | undefined): string | null {
  const parts = acceptLanguage && tagPattern.exec(acceptLanguage.slice(0, tagCharsMax))
  if (!parts) return null
  const [, language, script, region] = parts
  return [
    language!.toLowerCase(),
    ...(script ? [script[0]!.toUpperCase() + script.slice(1).toLowerCase()] : []),
    ...(region ? [region.toUpperCase()] : []),
  ].join('-')
}
