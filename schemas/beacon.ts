import { type Static, Type } from 'typebox'
import { Create } from 'typebox/value'
import type { CapturedEvent } from './captured.ts'
import type { EventData, EventType } from './events/index.ts'
import type { IgnoreSetting } from './ignored.ts'

/** What `POST /e` takes: one batch of one visitor's events. Checked by collector/ingest. */
export interface Beacon {
  pixel_id: string
  /** The id the page keeps for this browser; the collector's own cookie wins over it. Null: as consent false. */
  cookie_id?: string | null
  /** Who this cookie belongs to: SHA-256, hex, of the trimmed, lower-cased e-mail address. */
  hem?: string
  /** How that came to be known: the site said so, or it was written into a form. */
  hem_source?: 'identify' | 'form'
  /** HMAC-SHA256 of the hem, hex, which the site's server made with the pixel's identify secret. */
  hem_signature?: string
  /** False: set no cookie, keep no id. Absent: granted, unless the pixel's settings wait for consent. */
  consent?: boolean
  /** The visitor's, where a back end sends with a key of the pixel's project; without one they are not read. */
  client_ip?: string
  user_agent?: string
  /** The sender's clock when it sent, ISO 8601 or epoch milliseconds; the measure of how far that clock is off. */
  sent_at: string | number
  /** As they are stored, or as the pixel noted them. */
  events: (BeaconEvent | CapturedEvent)[]
}

export interface BeaconEvent<T extends EventType = EventType> {
  event_id: string
  event_type: T
  event_data: EventData<T>
}

/** What `POST /e` answers. */
export interface BeaconReceipt {
  /** The id the events were stored under; the page keeps it, unless there is no consent. */
  cookie_id: string
  /**
   * Number of accepted members of `events`: those neither rejected nor ignored. Derived events do not count.
   */
  accepted: number
  rejected: RejectedEvent[]
  /** Why nobody takes the `hem` of the beacon itself; its events are accepted or rejected all the same. */
  hem_rejected?: { path: string; message: string }
  /**
   * The key was valid for this pixel: the collector used `client_ip` and `user_agent`, and did not check the
   * origin.
   */
  vouched?: true
  /** How many members of `events` the project ignores; absent if it ignores no part of the beacon. */
  ignored?: number
  /** The settings of the project that ignored events or the `hem`. */
  ignored_by?: IgnoreSetting[]
}

/**
 * Why an event is rejected: it is invalid, its visitor has opted out, or the pixel drops bots. An opt-out is reported to
 * back ends with a key alone.
 */
export const rejectedEventCodes = ['invalid_event', 'visitor_opted_out', 'bot_dropped'] as const

export interface RejectedEvent {
  /** Place in `events`, from 0. */
  index: number
  /** As sent, when it was a string. */
  event_id: string | null
  /** JSON pointer into the event: "/event_data/percentage". */
  path: string
  code: (typeof rejectedEventCodes)[number]
  message: string
}

/** The end of the User-Agent with which `footfall-server check` loads pages: the collector marks these events as a test. */
export const checkUserAgent = 'FootfallCheck/1'

/** Largest body `POST /e` takes; also the most that browsers let a keepalive request carry. */
export const beaconBytesMax = 64 * 1024

const strict = { additionalProperties: false }

/**
 * Settings of a pixel for the collector. A body with some of them is `Type.Partial` of this, with
 * additionalProperties false.
 */
export const collectorSettingsSchema = Type.Object(
  {
    drop_bots: Type.Boolean({
      default: false,
      description:
        'true: events of bots are not stored. false: they are stored and marked with `is_bot`.',
    }),
    ip: Type.Enum(['full', 'truncated', 'none'], {
      default: 'truncated',
      description:
        'Address stored as `client_ip`. `full`: the complete address, or `truncated` without consent of the visitor. `truncated`: the /24 network of an IPv4 address or the /48 network of an IPv6 address. `none`: null. Country and bots are detected from the complete address first.',
    }),
    require_signed_identify: Type.Boolean({
      default: false,
      description:
        'true: an e-mail address from `identify` or a form is linked only with the signature of the site’s server. Events are accepted in any case.',
    }),
    retention_days: Type.Union([Type.Integer({ minimum: 1, maximum: 3660 }), Type.Null()], {
      default: null,
      description: 'Days after which events are deleted. Null: events are kept.',
    }),
  },
  strict,
)
export type CollectorSettings = Static<typeof collectorSettingsSchema>

export const defaultCollectorSettings: CollectorSettings = Create(collectorSettingsSchema)

/** A name of a query parameter, without the characters that URLs and patterns give a meaning. */
const ParameterName = Type.String({ pattern: '^[\\w.-]{1,100}$' })

/**
 * Settings of a pixel for the page, part of the script that `GET /p/{pixel_id}.js` serves. A body with some
 * of them is `Type.Partial` of this, with additionalProperties false.
 */
export const pixelSettingsSchema = Type.Object(
  {
    consent: Type.Enum(['granted', 'cookieless', 'hold', 'off'], {
      default: 'granted',
      description:
        'State until the page reports consent. `granted`: events have a stored visitor id. `cookieless`: events are sent at once, without a visitor id. `hold`: events wait in the page. `off`: no events are recorded.',
    }),
    honour_gpc: Type.Boolean({
      default: true,
      description: 'Treat Global Privacy Control and Do Not Track as denied consent.',
    }),
    text_length_max: Type.Integer({
      minimum: 0,
      maximum: 10_000,
      default: 500,
      description: 'Maximum length of the text of a click or a copy, in characters.',
    }),
    mask_selectors: Type.Array(
      Type.String({ minLength: 1, maxLength: 200, pattern: '^[^{}<]+$' }),
      {
        maxItems: 50,
        default: [],
        description:
          'CSS selectors of elements whose text is masked, in addition to elements with `data-footfall-mask`.',
      },
    ),
    ignore_query_parameters: Type.Array(ParameterName, {
      maxItems: 100,
      default: [],
      description:
        'Query parameters removed from every URL before it is stored. Parameters that hold secrets (`token`, `key`, `email`, `password`, `code`, …) are always removed.',
    }),
    search_parameters: Type.Array(ParameterName, {
      maxItems: 20,
      default: ['q', 'query', 's', 'search', 'keyword'],
      description: 'Query parameters whose value is a search on this site.',
    }),
    download_extensions: Type.Array(Type.String({ pattern: '^[a-z0-9]{1,20}$' }), {
      maxItems: 100,
      default: [
        'pdf',
        'zip',
        'csv',
        'xls',
        'xlsx',
        'doc',
        'docx',
        'ppt',
        'pptx',
        'dmg',
        'exe',
        'pkg',
        'deb',
        'rpm',
        'apk',
        'gz',
        'tar',
        'rar',
        '7z',
        'mp3',
        'wav',
        'epub',
        'txt',
      ],
      description: 'File name extensions, in lower case, of links that count as downloads.',
    }),
    identify_forms: Type.Boolean({
      default: false,
      description:
        'Hash e-mail addresses in submitted forms, in the browser, and link them to the visitor. The address never leaves the page. Requires consent.',
    }),
    track_hash: Type.Boolean({
      default: false,
      description:
        'Count a page view for each change of the fragment. Fragments that are a path (`#/route`, `#!/route`) always count.',
    }),
    track_query: Type.Boolean({
      default: false,
      description:
        'Count a page view if `history.replaceState` changed only the query and the URL then stayed the same for one second. For sites on which filters are pages.',
    }),
    video_embeds: Type.Boolean({
      default: false,
      description: 'Record videos of YouTube and Vimeo players.',
    }),
    web_vitals: Type.Boolean({
      default: false,
      description:
        'Measure LCP, INP, CLS, FCP and TTFB, and send them as custom events named `web_vitals`.',
    }),
    frustration: Type.Boolean({
      default: false,
      description:
        'Detect rage clicks and dead clicks, and send them as custom events named `rage_click` and `dead_click`. Rage clicks: three at one place, each within a second of the previous one. Dead clicks: no change within 2.5 seconds.',
    }),
  },
  strict,
)
export type PixelSettings = Static<typeof pixelSettingsSchema>

export const defaultPixelSettings: PixelSettings = Create(pixelSettingsSchema)
