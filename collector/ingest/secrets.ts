import type { PixelSettings } from '../../schemas/beacon.ts'
import { isObject } from './validate.ts'

/** Parameters that hold secrets, in any spelling of a name that ends in one of the first, or is one of the second. */
const secretEndings = 'token|secret|passwo?r?d|pwd|(?:api|[_-])key|e-?mail|jwt|signature|credential'
const secretNames = 'key|code|auth|authorization|pass|pin|otp|sid|session(?:_?id)?|sig|ssn|phone'

/** Finds query parameters that must not be kept, in URLs wherever they stand in a text; replace with "$1". */
const secretParameters = (ignored: readonly string[]): RegExp =>
  RegExp(
    `([?&#;])(?:(?:[\\w.%[\\]-]*(?:${secretEndings})|${[secretNames, ...ignored.map(escaped)].join('|')})(?:\\]|%5d)*=[^&#;"\\\\\\s]*[&;]?)+`,
    'gi',
  )

const escaped = (name: string) => name.replace(/[.-]/g, '\\$&')

/** Made once for each pixel's settings. */
const patterns = new WeakMap<PixelSettings, RegExp>()

function patternOf(settings: PixelSettings): RegExp {
  let pattern = patterns.get(settings)
  if (!pattern) {
    pattern = secretParameters(settings.ignore_query_parameters)
    patterns.set(settings, pattern)
  }
  return pattern
}

/** Takes tokens, keys, addresses and the like, and what the settings name, out of the query of a URL. */
function withoutSecrets(url: string, settings: PixelSettings): string {
  if (!url.includes('=')) return url
  const rest = url.replace(patternOf(settings), '$1')
  return rest === url ? url : rest.replace(/[?&;]+(?=#|$)|#$/g, '')
}

const urlKeys = ['url', 'referrer', 'href', 'src', 'action']

/** Takes secrets out of the URLs of an event's data. */
export function stripUrlSecrets(data: Record<string, unknown>, settings: PixelSettings): void {
  for (const key of urlKeys) {
    const value = data[key]
    if (typeof value === 'string') data[key] = withoutSecrets(value, settings)
  }
  for (const key of ['element', 'form']) {
    const part = data[key]
    if (isObject(part)) stripUrlSecrets(part, settings)
  }
}

/** The value without secrets in URLs wherever they stand in its texts. */
export function stripSecrets<T>(value: T, settings: PixelSettings): T {
  if (typeof value === 'string') return withoutSecrets(value, settings) as T
  if (Array.isArray(value)) return value.map((part) => stripSecrets(part, settings)) as T
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [key, stripSecrets(part, settings)]),
  ) as T
}
