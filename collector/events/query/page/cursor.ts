import { Type } from 'typebox'
import type { Order } from '../order.ts'
import type { Window } from '../window/window.ts'

/** The position of a row in the order of a page. */
export interface RowKey {
  /** ts_millis, or received_at for the order of arrival. */
  readonly millis: number
  readonly eventId: string
}

/**
 * The start of a page: the key of its first row. The cursor contains order and window,
 * so that all pages of "the last 24 hours" read the same 24 hours, however long it takes.
 */
export interface Cursor {
  readonly order: Order
  readonly from: RowKey
  readonly window: Window
  /** Of the selection that it continues. */
  readonly question: string
}

/** The parameter `cursor` of pages of events. */
export const CursorOfEvents = Type.String({
  description:
    'next_cursor of the previous page, with the other parameters unchanged. If the request has no window or order, ' +
    'those of the first page apply. Another order, filter, distinct or source is answered with 400.',
})
