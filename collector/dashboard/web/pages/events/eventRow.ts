/** An event as the API returns it, with the selected fields. */
export type EventRow = Record<string, unknown> & { event_id: string }

/** Events read on this page, by id, so that opening one again is free. */
export const readRows = new Map<string, EventRow>()

/** The default columns of a list. */
export const columnsDefault: readonly string[] = [
  'timestamp',
  'event_type',
  'page_path',
  'referrer_host',
  'country',
  'device_type',
  'resolved',
]

/** Returns a field's value for a cell. */
export function textOfValue(value: unknown): string | number | null {
  if (value === null || value === undefined) return null
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'number' || typeof value === 'string' ? value : JSON.stringify(value)
}
