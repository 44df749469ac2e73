import { type Static, Type } from 'typebox'
import type { EventData, EventType } from './events/index.ts'

/** What `POST /e` takes: one batch of one visitor's events. Checked by collector/ingest. */
export interface Beacon {
  pixel_id: string
  /** The id the page keeps for this browser; the collector's own cookie wins over it. */
  cookie_id?: string
  /** Who this cookie belongs to: SHA-256, hex, of the trimmed, lower-cased e-mail address. */
  hem?: string
  /** False: set no cookie, keep no id. Absent: granted, unless the pixel's settings wait for consent. */
  consent?: boolean
  /** The sender's clock when it sent, ISO 8601; the measure of how far that clock is off. */
  sent_at: string
  events: BeaconEvent[]
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
  accepted: number
  rejected: RejectedEvent[]
}

export interface RejectedEvent {
  /** Place in `events`, from 0. */
  index: number
  /** As sent, when it was a string. */
  event_id: string | null
  /** JSON pointer into the event: "/event_data/percentage". */
  path: string
  message: string
}

/** Largest body `POST /e` takes; also the most that browsers let a keepalive request carry. */
export const beaconBytesMax = 64 * 1024

/** What a pixel's owner sets for the collector. */
export const collectorSettingsSchema = Type.Object(
  {
    drop_bots: Type.Boolean({
      description: 'Do not store what bots send; otherwise it is stored and marked.',
    }),
    retention_days: Type.Union([Type.Integer({ minimum: 1, maximum: 3650 }), Type.Null()], {
      description: 'Events older than this are deleted; null keeps them.',
    }),
  },
  { additionalProperties: false },
)
export type CollectorSettings = Static<typeof collectorSettingsSchema>

export const defaultCollectorSettings: CollectorSettings = { drop_bots: false, retention_days: null }

/** What a pixel's owner sets for the page; baked into the script that `GET /p/{pixel_id}.js` serves. */
export const pixelSettingsSchema = Type.Object(
  {
    consent: Type.Union([Type.Literal('granted'), Type.Literal('cookieless'), Type.Literal('hold')], {
      description:
        '"granted": keep an id from the start. "cookieless": events go at once, without an id, until footfall(\'consent\', \'granted\'). "hold": nothing leaves the page before that.',
    }),
    honour_gpc: Type.Boolean({
      description: 'Treat Global Privacy Control and Do Not Track as no consent.',
    }),
    text_length_max: Type.Integer({
      minimum: 1,
      maximum: 10_000,
      description: 'Longest text of a click or a copy, in characters.',
    }),
    search_parameters: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      maxItems: 50,
      description: 'Query parameters whose value is a search on this site.',
    }),
    download_extensions: Type.Array(Type.String({ minLength: 1, maxLength: 20 }), {
      maxItems: 200,
      description: 'File name extensions whose links are downloads.',
    }),
  },
  { additionalProperties: false },
)
export type PixelSettings = Static<typeof pixelSettingsSchema>

export const defaultPixelSettings: PixelSettings = {
  consent: 'granted',
  honour_gpc: true,
  text_length_max: 500,
  search_parameters: ['q', 'query', 's', 'search', 'keyword'],
  download_extensions: [
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
}

/** What stands in the built pixel until the collector bakes in a pixel's id and settings. */
export const pixelConfigPlaceholder = '__FOOTFALL_PIXEL_CONFIG__'
