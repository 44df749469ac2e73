import { invalidParameter } from '../http/errors.ts'
import { type Order, orders } from './order.ts'
import type { Window } from './window.ts'

/** The place of a row in the order of a page. */
export interface RowKey {
  /** ts_millis, or of what is in the order of arrival received_at. */
  readonly millis: number
  readonly eventId: string
}

/**
 * Where a page begins: the key of its first row. Order and window travel along, so that paging through "the last 24
 * hours" reads the same 24 hours to the end, however long it takes.
 */
export interface Cursor {
  readonly order: Order
  readonly from: RowKey
  readonly window: Window
}

const cursorPattern =
  /^(?:([a-z]{1,8})\.)?(-?\d{1,16})\.(-?\d{1,16})\.(-?\d{1,16})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** Writes a cursor as callers see it: opaque, safe in a URL. */
export const encodeCursor = ({ order, from, window }: Cursor): string =>
  Buffer.from(
    `${order === 'desc' ? '' : `${order}.`}${window.startMs}.${window.endMs}.${from.millis}.${from.eventId}`,
  ).toString('base64url')

/** Reads what encodeCursor wrote. Throws 400 for anything else. */
export function decodeCursor(text: string): Cursor {
  const bytes = Buffer.from(text, 'base64url')
  const parts = cursorPattern.exec(bytes.toString('latin1'))
  const order = orders.find((candidate) => candidate === (parts?.[1] ?? 'desc'))
  // Node skips characters that base64url does not have, so only a cursor that encodes back is ours.
  if (!parts || !order || bytes.toString('base64url') !== text) {
    throw invalidParameter('cursor', 'is not a next_cursor of this service')
  }
  const [, , startMs, endMs, millis, eventId] = parts
  return {
    order,
    from: { millis: Number(millis), eventId: eventId! },
    window: { startMs: Number(startMs), endMs: Number(endMs) },
  }
}
