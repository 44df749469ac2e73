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

export const userAgentCharsMax = 1024
/** Size of keys and values, UTF-16. */
const cacheBytesMax = 8 * 1024 * 1024

interface CachedDevice {
  isBot: boolean
  /** The device columns as JSON members without braces, for rows: `"user_agent":"…","browser":…`. */
  members: string
}

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
    browser: browserOf(text, parsed.browser.name),
    browser_version: parsed.browser.version ?? null,
    os: parsed.os.name ?? null,
    os_version: parsed.os.version ?? null,
    device_type: text === '' ? null : deviceTypeOf(text, parsed.device.type),
    is_bot: bot !== null,
    bot_reason: bot,
  }
}

/** Televisions, set-top boxes and sticks. Most of them call themselves Android or Linux. */
const television =
  /\b(?:smart-?tv|hbbtv|google ?tv|android ?tv|apple ?tv|netcast|nettv|opera tv|ce-html|inettv|netrange|web0s|viera|bravia|dtv\b|roku|crkey|chromecast|tv ?box|set-?top|stb\b|mibox|mitv|mi ?tv|firetv|fire ?tv|aft[a-z0-9]{1,6} build|philipstv|sonydtv|tsbnettv|espial|swisscom|freebox|ott\b|tv(?= |;|\)|\/|-|$)|tv\d|(?:[a-z]{2,12}|4k|uhd)[ _-]?tv(?=[ _;)/-]|$)|[a-z0-9]*atv\d?|beyondtv|smart_tv|tvos|large screen|maple_?\d|kylo|nexus player|smart ?box|[a-z]* ?shell [a-z]{2}\w+|box(?=[);])|mxq|tanix|evpad|[a-z-]*led\d{2}\w*|\w+_[fu]hd|brightsign)/i
/** Names of televisions and boxes that phones have, too. Browsers of phones say Mobile. */
const sharedName =
  /\b(?:aquos|hisense|(?:h|x)96|a95x|ugoos|zidoo|vontar|minix|neo[ -][ux]\d|km\d\b|gtking|rombica|box\b|yndx|\w+box[ _-]\w+|[ _](?:4|8)k(?=[ _);]))/i
/** A model that begins with the size of a television in inches, or has it after its maker: `43U800BU`, `STV-40LED42S`. */
const screenSize =
  /(?:; ?|[ _-])(?:24|28|32|39|4[0-39]|5[058]|6[05]|7[05]|8[56])[a-z]{1,5}[ _-]?\d{1,5}\w*(?: Build|[);/_-])/i
const handheld = /\b(?:iphone|ipad|tablet|mobile safari.*wv\)|kaios)\b/i
/** Tablets that browsers take for phones. */
const tabletModel =
  /android[^;()]{0,20};[^()]{0,60}?(?:tab(?:let)?s?\b|tab[ _-]?\d|tab[ _]|pad\b|pad[ _-]?\d|\bpad)/i

/** Phones that ua-parser-js does not know. */
const phone =
  /\b(?:midp|cldc|wap\d?|j2me|up\.browser|series ?[46]0|symbian(?:os)?|maui|brew|obigo|netfront|teleca|polaris|bada|nokia|mtk|ucweb|ucbrowser|fban|opera mini|windows (?:phone|ce)|lumia|palm\w*)\b|^iphone\w+$|^ipod\w+$/i

function deviceTypeOf(userAgent: string, parsed: string | undefined): string {
  if (parsed === 'console' || handheld.test(userAgent)) return parsed ?? 'mobile'
  if (television.test(userAgent)) return 'smarttv'
  if (screenSize.test(userAgent)) return 'smarttv'
  if (sharedName.test(userAgent) && !/\bmobile\b/i.test(userAgent)) return 'smarttv'
  if (parsed !== 'wearable' && parsed !== 'xr' && tabletModel.test(userAgent)) return 'tablet'
  return parsed ?? (phone.test(userAgent) || /android/i.test(userAgent) ? 'mobile' : 'desktop')
}

/** A browser within an app, which ua-parser-js calls the browser of Android before version 4.4. */
const browserOf = (userAgent: string, parsed: string | undefined): string | null =>
  parsed === 'Android Browser' && /\bChrome\/\d/.test(userAgent)
    ? 'Chrome WebView'
    : (parsed ?? null)

/** The model of an Android device, whose name may be that of a program: "Discovery", "Radar". */
const androidModel = /(\(Linux;[^()]*?Android[^;()]*)(;[^()]*(?:\([^()]*\)[^()]*)*)\)/i
/** Words that only programs have, also on devices whose browsers look odd. */
const programWord = /bot\b|bot[/;) _-]|crawl|spider|https?:\/\/|headless|lighthouse|monitor/i
/** How programs name themselves between the parentheses of a device. Phones are named "M bot 54" or "Spider 8". */
const programInModel =
  /\w{4}bot\b|bot\/|crawler|spider[/;)]|https?:\/\/|headless|lighthouse|monitor|compatible;|duplexweb/i

/** Parts of browsers with a word of programs. */
const browserWord =
  /chromeframe(?:\/[\d.]+)?|sogou(?:mse|mobilebrowser|[ -]?explorer)|qqdownload \d+|javaplatform|applenews|\bnews\/[\d.]+|,?gzip\(gfe\)/gi

function botReason(userAgent: string): string | null {
  if (userAgent === '') return 'no user agent'
  if (userAgent.endsWith(checkUserAgent)) return 'test'
  const withoutModel = userAgent
    .replace(androidModel, (all, system: string, model: string) =>
      programInModel.test(model) ? all : `${system})`,
    )
    .replace(browserWord, '')
  const match = isbotMatch(withoutModel)
  const isOddBrowser = television.test(userAgent) || phone.test(withoutModel)
  if (match === null || (isOddBrowser && !programWord.test(withoutModel))) return null
  return `user agent: ${match}`
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
