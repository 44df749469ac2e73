import { Choice } from '../../api/http/commonSchemas.ts'

/**
 * The order of a page: by time, newest or oldest first, or by arrival; within a millisecond by id. For the
 * order of arrival the window applies to received_at, otherwise to ts_millis.
 */
export const orders = ['desc', 'asc', 'received'] as const
export type Order = (typeof orders)[number]

/** The parameter `order`. */
export const OrderName = Choice(orders, {
  default: orders[0],
  description:
    '`desc`: newest first, by ts_millis and then event_id. `asc`: oldest first. Both return the same rows, and with ' +
    'distinct the newest event of each combination. `received`: in order of arrival, by received_at and then ' +
    'event_id. The window then applies to received_at and by default ends at meta.complete_until. The response always ' +
    'has a next_cursor. Repeated requests return each event once, however late it arrived. If ClickHouse loses ' +
    'events in a crash, complete_until moves back until they are restored. Then read again from the ' +
    'earliest complete_until and skip known event_ids.',
})

/** `table` qualifies the columns if selected columns have the same names. */
export function orderBy(order: Order, table?: string): string {
  const direction = order === 'desc' ? ' DESC' : ''
  const columns = keyColumns(order).map((name) => `${table ? `${table}.` : ''}${name}${direction}`)
  return `ORDER BY ${columns.join(', ')}`
}

export const newestFirst = 'ORDER BY ts_millis DESC, event_id DESC'

/** Returns the columns that determine a row's position in the order. */
export const keyColumns = (order: Order) => [timeColumn(order), 'event_id'] as const

export const timeColumn = (order: Order) => (order === 'received' ? 'received_at' : 'ts_millis')

/** Returns SQL that converts bound milliseconds to the type of that column. */
export const timeOf = (order: Order, millis: string): string =>
  order === 'received' ? `fromUnixTimestamp64Milli(${millis}, 'UTC')` : millis

/** Returns the comparison for an event and all later ones. */
export const fromHereOn = (order: Order): string => (order === 'desc' ? '<=' : '>=')

/** Returns the comparison for an event and all earlier ones. */
export const fromHereBack = (order: Order): string => (order === 'desc' ? '>=' : '<=')

/** Returns the comparison for all events before an event. */
export const beforeHere = (order: Order): string => (order === 'desc' ? '>' : '<')

/** Returns SQL of the last row's key, as `(milliseconds,'event_id')`. */
export function lastKey(order: Order): string {
  const millis = order === 'received' ? 'toUnixTimestamp64Milli(received_at)' : 'ts_millis'
  return `toString(${order === 'desc' ? 'min' : 'max'}((${millis}, event_id)) OVER ())`
}
