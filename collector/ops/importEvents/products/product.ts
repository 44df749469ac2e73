import type { Format, Source } from '../../../identity/load/source.ts'
import { secretUuidOf } from '../../../platform/uuidOfDigest.ts'

/** A record of another product's export. CSV values are texts; empty ones are absent. */
export type ProductRecord = Record<string, unknown>

/** A row of imported columns, or the reason why a record has none. */
export type ProductRow = ProductRecord | { unreadable: string }

/** Another product, whose export `footfall-server import` reads. */
export interface Product {
  readonly name: string
  /** Pairs of the product's terms and Footfall's, which the dry run prints. */
  readonly mapping: readonly (readonly [from: string, to: string])[]
  /** The fields of a record that the import reads, such as `geo.city`; of lists, those of their members. */
  readonly fields: readonly string[]
  /** Distinguishes imports of the same file with other options. */
  readonly facts: readonly string[]
  /** Opens a file of the export. Throws StartError. */
  open(path: string, format: Format | null): Promise<Source>
  /**
   * Maps a record to rows, or to reasons why it has none. A row without `event_id` has `identity`: what distinguishes
   * the event in the product. `idOf` derives ids.
   */
  rowsOf(record: ProductRecord, idOf: IdOf): Iterable<ProductRow>
}

/** Derives a UUID from parts; only the service can compute it. */
export type IdOf = (...parts: readonly unknown[]) => string

export interface ProductOptions {
  /** The product's id of the site; other sites of the export are skipped. */
  readonly site: string | null
  /** The host name of events without one. */
  readonly host: string | null
}

/** Derives ids that are the same for each import of the same record. */
export const createIds =
  (product: string, eventIdKey: string): IdOf =>
  (...parts) =>
    secretUuidOf(eventIdKey, JSON.stringify([product, ...parts]))

export const skip = (reason: string) => ({ unreadable: reason })

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== ''
    ? value
    : typeof value === 'number'
      ? String(value)
      : undefined

export const present = (members: ProductRecord): ProductRecord =>
  Object.fromEntries(
    Object.entries(members).filter(
      ([, value]) => value !== undefined && value !== null && value !== '',
    ),
  )

/** A country by its code, or none: products write XX or ZZ for an unknown one. */
export function countryOf(value: unknown): string | undefined {
  const code = textOf(value)?.trim().toUpperCase()
  return code && /^(?!XX|ZZ)[A-Z]{2}$/.test(code) ? code : undefined
}

const sizePattern = /^(\d{1,5})x(\d{1,5})$/

/** The screen columns of a size such as 1920x1080. */
export function screenOf(size: unknown): { screen_width?: number; screen_height?: number } {
  const [, width, height] = sizePattern.exec(String(size ?? '')) ?? []
  return width ? { screen_width: Number(width), screen_height: Number(height) } : {}
}

/** The event_data of a click on a link to another site; other products do not know its place on the page. */
export const outboundClick = (url: string, href: unknown, more: ProductRecord = {}) => ({
  url,
  element: { ariaLabel: null, className: textOf(more.className) ?? '', href: textOf(href) ?? null },
  elementIdentifier: textOf(more.id) ?? '',
  elementText: textOf(more.text) ?? '',
  coordinates: { x: 0, y: 0 },
  link: 'outbound',
})

/** The event_data of a download of a file. */
export function downloadOf(url: string, href: string, name?: string) {
  const path = href.split(/[?#]/, 1)[0]!
  const filename = name?.split('/').at(-1) ?? path.slice(path.lastIndexOf('/') + 1)
  const dot = filename.lastIndexOf('.')
  const extension = dot > 0 ? filename.slice(dot + 1).toLowerCase() : ''
  return { url, href, filename, extension }
}
