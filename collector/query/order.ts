/**
 * In which order a page has its events: by time, newest first or oldest first, or as they were received; of the same
 * millisecond by id. Of what was received the window means received_at, of all others ts_millis.
 */
export const orders = ['desc', 'asc', 'received'] as const
export type Order = (typeof orders)[number]

/** ORDER BY of events in this order. */
export const orderBy = (order: Order): string =>
  order === 'desc' ? newestFirst : `ORDER BY ${keyColumns(order).join(', ')}`

export const newestFirst = 'ORDER BY ts_millis DESC, event_id DESC'

/** The columns that place a row in the order of a page. */
export const keyColumns = (order: Order) => [timeColumn(order), 'event_id'] as const

export const timeColumn = (order: Order) => (order === 'received' ? 'received_at' : 'ts_millis')

/** SQL of bound milliseconds as the type of that column. */
export const timeOf = (order: Order, millis: string): string =>
  order === 'received' ? `fromUnixTimestamp64Milli(${millis}, 'UTC')` : millis

/** The comparison that holds for an event and all that follow it. */
export const fromHereOn = (order: Order): string => (order === 'desc' ? '<=' : '>=')

/** SQL of the key of the last of all rows, as `(milliseconds,'event_id')`. */
export function lastKey(order: Order): string {
  const millis = order === 'received' ? 'toUnixTimestamp64Milli(received_at)' : 'ts_millis'
  return `toString(${order === 'desc' ? 'min' : 'max'}((${millis}, event_id)) OVER ())`
}
