import type { PixelSettings } from '../schemas/beacon.ts'

/**
 * What the pixel runs by: a list, because names would travel twice. Its places are named in src/config.ts; the
 * collector bakes it into the script, the module makes it from the options of init().
 */
export type PixelConfig = [
  pixelId: string,
  /** Where events go: absolute, or as seen from where the page got the script. */
  endpoint: string,
  /** Where the script is served, for pages that do not say where they got it. */
  scriptUrl: string,
  /** What may be done before the page says more; see `level` in src/consent.ts. */
  consentLevel: 0 | 1 | 2 | 3,
  honoursGpc: boolean,
  textLengthMax: number,
  /** Selector of what the page masks. */
  masked: string,
  /** Selector of that, and of where people write: their text is nobody's business. */
  unread: string,
  secrets: RegExp,
  searchParameters: RegExp,
  downloads: RegExp,
  /** What of a URL does not make it another page. */
  fragment: RegExp,
]

/** Where people write. Inputs that are buttons show a label. */
const written = [
  'input:not([type=submit],[type=button],[type=reset])',
  'textarea',
  'select',
  '[contenteditable]',
]

/** Parameters that hold secrets, in any spelling of a name that ends in one of the first, or is one of the second. */
const secretEndings = 'token|secret|passwo?r?d|pwd|(?:api|[_-])key|e-?mail|jwt|signature|credential'
const secretNames = 'key|code|auth|authorization|pass|pin|otp|sid|session(?:_?id)?|sig|ssn|phone'

/**
 * Finds query parameters that must not be kept, in URLs wherever they stand in a text; replace with "$1". The
 * collector looks for them again.
 */
export const secretParameters = (ignored: readonly string[]): RegExp =>
  RegExp(
    `([?&#;])(?:(?:[\\w.%[\\]-]*(?:${secretEndings})|${[secretNames, ...ignored.map(escaped)].join('|')})(?:\\]|%5d)*=[^&#;"\\\\\\s]*[&;]?)+`,
    'gi',
  )

const escaped = (name: string) => name.replace(/[.-]/g, '\\$&')

/** The list for one pixel. */
export const pixelConfig = (
  pixelId: string,
  endpoint: string,
  scriptUrl: string,
  settings: PixelSettings,
): PixelConfig => {
  const masked = ['[data-footfall-mask]', ...settings.mask_selectors]
  return [
    pixelId,
    endpoint,
    scriptUrl,
    (['off', 'hold', 'cookieless', 'granted'] as const).indexOf(settings.consent) as PixelConfig[3],
    settings.honour_gpc,
    settings.text_length_max,
    masked.join(),
    [...masked, ...written].join(),
    secretParameters(settings.ignore_query_parameters),
    RegExp(`^(${settings.search_parameters.map(escaped).join('|')})$`),
    RegExp(`\\.(${settings.download_extensions.join('|')})$`, 'i'),
    settings.track_hash ? /$^/ : /#.*/,
  ]
}
