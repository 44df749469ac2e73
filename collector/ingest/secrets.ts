import { secretParameters } from '../../pixel/config.ts'
import type { PixelSettings } from '../../schemas/beacon.ts'
import { isObject } from './validate.ts'

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
export function withoutSecrets(url: string, settings: PixelSettings): string {
  if (!url.includes('=')) return url
  const rest = url.replace(patternOf(settings), '$1')
  return rest === url ? url : rest.replace(/[?&;]+(?=#|$)|#$/g, '')
}

const urlKeys = ['url', 'referrer', 'href', 'src', 'action']

/** Takes secrets out of the URLs of an event's data: the pixel has done so, other senders may not have. */
export function stripSecrets(data: Record<string, unknown>, settings: PixelSettings): void {
  for (const key of urlKeys) {
    const value = data[key]
    if (typeof value === 'string') data[key] = withoutSecrets(value, settings)
  }
  for (const key of ['element', 'form']) {
    const part = data[key]
    if (isObject(part)) stripSecrets(part, settings)
  }
}
