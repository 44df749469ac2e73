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
export interface CollectorSettings {
  /** Do not store what bots send; otherwise it is stored and marked. */
  drop_bots: boolean
}

export const defaultCollectorSettings: CollectorSettings = { drop_bots: false }

/** What a pixel's owner sets for the page; baked into the script that `GET /p/{pixel_id}.js` serves. */
export interface PixelSettings {
  /**
   * "granted": keep an id from the start. "cookieless": events go at once, without an id, until
   * footfall('consent', 'granted'). "hold": nothing leaves the page before that.
   */
  consent: 'granted' | 'cookieless' | 'hold'
  /** Treat Global Privacy Control and Do Not Track as no consent. */
  honour_gpc: boolean
  /** Longest text of a click or a copy, in characters. */
  text_length_max: number
  /** Query parameters whose value is a search on this site. */
  search_parameters: string[]
  /** File name extensions whose links are downloads. */
  download_extensions: string[]
}

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
