import { Type } from 'typebox'
import type { Order } from './order.ts'
import type { Window } from './window.ts'

/** The place of a row in the order of a page. */
export interface RowKey {
  /** ts_millis, or received_at for the order of arrival. */
  readonly millis: number
  readonly eventId: string
  /** In a cursor: the page begins after this row. */
  readonly isPassed?: true
}

/**
 * Where a page begins: the key of its first row, or of the one before. Order and window travel along, so that paging through "the last 24
 * hours" reads the same 24 hours to the end, however long it takes.
 */
export interface Cursor {
  readonly order: Order
  readonly from: RowKey
  readonly window: Window
}

/** The parameter `cursor` of pages of events. */
export const CursorOfEvents = Type.String({
  description:
    'next_cursor of the previous page, with the other parameters unchanged. If the request has no window or order, ' +
    'those of the first page apply. Another order is answered with 400.',
})
