import type { PixelSettings } from '../schemas/beacon.ts'

/**
 * Settings of the pixel, read as `config.masked` in src/. The collector inserts the values into the script;
 * the module derives them from the options of init().
 */
export interface PixelConfig {
  pixelId: string
  /** The key of the page's storage for waiting events. */
  queueName: `footfall_${string}`
  /** The address for events: absolute, or relative to the address of the script. */
  endpoint: string
  /** The address of the script, for pages that do not reveal it. */
  scriptUrl: string
  /** The level of consent before the page calls footfall('consent'); see `level` in src/consent.ts. */
  consentLevel: 0 | 1 | 2 | 3
  /** The level of consent after a denial. */
  deniedLevel: 0 | 2
  honoursGpc: 0 | 1
  textLengthMax: number
  /** Selector of masked elements. */
  masked: string
  /** Selector of masked elements, ignored elements, and fields to write in, whose text must not be read. */
  unread: string
  /** Matches search fields by their name, type and autocomplete, separated by spaces. */
  searchField: RegExp
  /** Matches the parts of a URL that do not distinguish pages. */
  fragment: RegExp
  /** Matches URLs that count although only their query was replaced. */
  replacedQuery: RegExp
  /** The settings mask more than the page's own marks do. */
  ownMasks: boolean
  /** Whether the chunk that classifies clicks is loaded. */
  frustration: boolean
}

/** Settings known at build time, by the file that contains them, so that unused code is removed. */
const usual = {
  consentLevel: 3,
  deniedLevel: 2,
  honoursGpc: 1,
  ownMasks: false,
  frustration: false,
} as const
export const variants: Record<string, Partial<PixelConfig>> = {
  'pixel.js': usual,
  'pixel.frustration.js': { ...usual, frustration: true },
  'pixel.custom.js': {},
}

/** The file of the first variant that is built for such a configuration. */
export const variantFor = (config: PixelConfig): string =>
  Object.keys(variants).find((file) =>
    Object.entries(variants[file]!).every(
      ([key, value]) => config[key as keyof PixelConfig] === value,
    ),
  )!

/** Selector of fields that people type in. Inputs that are buttons show a label instead. */
const written = [
  'input:not([type=submit],[type=button])',
  'textarea',
  'select',
  '[contenteditable]',
]

const escaped = (name: string) => name.replace(/[.-]/g, '\\$&')

/** The configuration of one pixel. */
export const pixelConfig = (
  pixelId: string,
  endpoint: string,
  scriptUrl: string,
  settings: PixelSettings,
): PixelConfig => {
  const masked = ['[data-footfall-mask]', ...settings.mask_selectors]
  return {
    pixelId,
    queueName: `footfall_${pixelId}`,
    endpoint,
    scriptUrl,
    consentLevel: (['off', 'hold', 'cookieless', 'granted'] as const).indexOf(
      settings.consent,
    ) as PixelConfig['consentLevel'],
    deniedLevel: ['granted', 'cookieless'].includes(settings.consent) ? 2 : 0,
    honoursGpc: settings.honour_gpc ? 1 : 0,
    textLengthMax: settings.text_length_max,
    masked: masked.join(),
    unread: [...masked, '[data-footfall-ignore]', ...written].join(),
    searchField: RegExp(
      `^(${settings.search_parameters.map(escaped).join('|')}) [st]|^\\S* search `,
    ),
    // A fragment that is a path is a route.
    fragment: settings.track_hash ? /$^/ : /#(?!!?\/).*/,
    replacedQuery: settings.track_query
      ? /^/
      : RegExp(`[?&](${settings.search_parameters.map(escaped).join('|')})=`),
    ownMasks: settings.mask_selectors.length > 0,
    frustration: settings.frustration,
  }
}

/** The placeholder in the built script for a value of its configuration. */
export const placeholderOf = (key: string): string => `__FOOTFALL_${key}__`

/**
 * Inserts the configuration of one pixel into the built script, in one pass, so that no value is taken for a
 * placeholder.
 */
export const bake = (template: string, config: PixelConfig): string =>
  template.replace(/__FOOTFALL_(\w+?)__/g, (placeholder, key: keyof PixelConfig) => {
    const value = config[key]
    if (value === undefined) return placeholder
    return value instanceof RegExp ? `${value}` : JSON.stringify(value)
  })
