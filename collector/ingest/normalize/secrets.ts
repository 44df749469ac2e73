import type { PixelSettings } from '../../../schemas/beacon.ts'
import { isObject } from '../../platform/json.ts'
import { isText } from './text.ts'

/** Endings of the names of secret parameters, in any spelling. */
const secretEnding =
  /(?:token|secret|passwo?r?d|pwd|(?:api|[_-])key|e-?mail|jwt|signature|credential)$/i
/** Complete names of secret parameters. */
const secretNames = [
  'key',
  'code',
  'auth',
  'authorization',
  'pass',
  'pin',
  'otp',
  'sid',
  'session',
  'sessionid',
  'session_id',
  'sig',
  'ssn',
  'phone',
]
/** Only the end of a name is checked; all names above are much shorter. */
const nameCharsMax = 200

/**
 * The name of a parameter, in URLs anywhere in a text, and its value with the separator after it. All
 * expressions here are linear: none starts inside the text that another match of it has scanned in vain.
 */
const parameterName = /(?<=[?&#;])([^?&#;="\\\s]*)=/g
const parameterValue = /[^&#;"\\\s]*[&;]?/y
/** Separators with nothing after them. */
const looseEnd = /(?<![?&;])[?&;]+(?=#|$)|#$/g
/** User name and password in a URL. */
const credentials = /(?<=:\/\/)[^/?#\s"\\]*@/g
/** The end of an array's name: `token[]`, `token%5d`. */
const closings = /(?:\]|%5d|\[|%5b)+$/i

/** Further names that a pixel's settings remove, created once for each. */
const ignoredNames = new WeakMap<PixelSettings, ReadonlySet<string>>()

function namesOf(settings: PixelSettings): ReadonlySet<string> {
  let names = ignoredNames.get(settings)
  if (!names) {
    names = new Set([
      ...secretNames,
      ...settings.ignore_query_parameters.map((name) => name.toLowerCase()),
    ])
    ignoredNames.set(settings, names)
  }
  return names
}

function isSecret(name: string, settings: PixelSettings): boolean {
  const plain = name.slice(-nameCharsMax).replace(closings, '')
  return (
    secretEnding.test(plain) ||
    (name.length < nameCharsMax && namesOf(settings).has(plain.toLowerCase()))
  )
}

/** Texts without secrets, by settings: a site has few URLs, and sends each of them repeatedly. */
let harmless = new WeakMap<PixelSettings, Set<string>>()
let harmlessChars = 0
const harmlessCharsMax = 4 * 1024 * 1024

/**
 * Removes tokens, keys, addresses and similar values, and the parameters of the settings, from the queries of
 * URLs. Removes the numbers of cards and of social security everywhere.
 */
export function withoutSecrets(text: string, settings: PixelSettings): string {
  if (!/=|\d{3}/.test(text)) return text
  if (harmless.get(settings)?.has(text)) return text
  const stripped = withoutNumbers(withoutParameters(text, settings))
  if (stripped === text) noteHarmless(text, settings)
  return stripped
}

function noteHarmless(text: string, settings: PixelSettings): void {
  harmlessChars += text.length
  // The cache is full: common values return at once.
  if (harmlessChars > harmlessCharsMax) {
    harmless = new WeakMap()
    harmlessChars = text.length
  }
  const texts = harmless.get(settings)
  if (texts) texts.add(text)
  else harmless.set(settings, new Set([text]))
}

function withoutParameters(url: string, settings: PixelSettings): string {
  if (!url.includes('=')) return url
  let result = ''
  let end = 0
  for (const { index, 0: start, 1: name } of url.matchAll(parameterName)) {
    if (index < end || !isSecret(name!, settings)) continue
    result += url.slice(end, index)
    parameterValue.lastIndex = index + start.length
    parameterValue.test(url)
    end = parameterValue.lastIndex
  }
  return end === 0 ? url : (result + url.slice(end)).replace(looseEnd, '')
}

/** Names each member in code, because a variable key takes four times as long. */
export function stripUrlSecrets(data: Record<string, unknown>, settings: PixelSettings): void {
  const { url, referrer, href, src, action, element, form } = data
  if (isText(url)) data.url = withoutSecrets(url, settings)
  if (isText(referrer)) data.referrer = withoutSecrets(referrer, settings)
  if (isText(href)) data.href = withoutSecrets(href, settings)
  if (isText(src)) data.src = withoutSecrets(src, settings)
  if (isText(action)) data.action = withoutSecrets(action, settings)
  if (isObject(element)) stripUrlSecrets(element, settings)
  if (isObject(form)) stripUrlSecrets(form, settings)
}

/**
 * Removes secrets from all texts of a captured value, including users and passwords in the page's links.
 * Senders of complete events may intend to send them.
 */
export function stripSecrets<T>(value: T, settings: PixelSettings): T {
  if (isText(value)) return withoutSecrets(withoutCredentials(value), settings) as T
  if (Array.isArray(value)) return value.map((part) => stripSecrets(part, settings)) as T
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, stripSecrets(part, settings)]),
  ) as T
}

const withoutCredentials = (text: string): string =>
  text.includes('@') ? text.replace(credentials, '') : text

const maskedNumber = '***'

/** Separators between the groups of a number, also in URLs. */
const gap = '(?:[ +.\\u00a0-]|%20)'
/** A number with the length of a card number, in one piece or in groups of cards, that stands alone. */
const cardLike = RegExp(
  `(%[\\da-f]{2}|(?<![\\d%]))(\\d{13,19}|(?:\\d{4}${gap}){3}\\d{4}|\\d{4}${gap}\\d{6}${gap}\\d{4,5})(?!\\d)`,
  'gi',
)
/** The ranges of Visa, Mastercard, American Express, Diners Club, JCB, Discover, UnionPay and Maestro, with their lengths. */
const ofNetwork = RegExp(
  `^(?:${[
    '4(?:\\d{12}|\\d{15}|\\d{18})',
    '5[1-5]\\d{14}',
    '2(?:22[1-9]|2[3-9]\\d|[3-6]\\d\\d|7[01]\\d|720)\\d{12}',
    '3[47]\\d{13}',
    '3(?:0[0-5]|[689]\\d)\\d{11}',
    '35(?:2[89]|[3-8]\\d)\\d{12}',
    '(?:6011|64[4-9]\\d|65\\d\\d|62\\d\\d)\\d{12,15}',
    '(?:50|5[6-8]|63|67)\\d{11,17}',
  ].join('|')})$`,
)
/** A social security number of the United States in an assigned range. */
const socialSecurity =
  /(%[\da-f]{2}|(?<![\d%-]))(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\d-])/gi

/** Whether the check digit at the end is correct (ISO/IEC 7812-1). */
function hasCheckDigit(digits: string): boolean {
  let sum = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = Number(digits.at(-1 - at)) * (1 + (at % 2))
    sum += digit > 9 ? digit - 9 : digit
  }
  return sum % 10 === 0
}

/** Returns the text with `***` in place of card and social security numbers; all other numbers are unchanged. */
export function withoutNumbers(text: string): string {
  if (!/\d{3}/.test(text)) return text
  return text
    .replace(cardLike, (all, before: string, number: string) => {
      const digits = number.replace(/%20|\D/g, '')
      return ofNetwork.test(digits) && hasCheckDigit(digits) ? before + maskedNumber : all
    })
    .replace(socialSecurity, `$1${maskedNumber}`)
}
