import { Choice } from '../../api/http/commonSchemas.ts'

/**
 * In which order a page has its events: by time, newest first or oldest first, or as they were received; of the same
 * millisecond by id. Of what was received the window means received_at, of all others ts_millis.
 */
export const orders = ['desc', 'asc', 'received'] as const
export type Order = (typeof orders)[number]

/** The parameter `order`. */
export const OrderName = Choice(orders, {
  default: orders[0],
  description:
    'desc: newest first, by ts_millis and then event_id; asc: oldest first. The rows are the same: of distinct ones ' +
    'the newest are returned in both. received: in the order of arrival, by received_at and then event_id; the window ' +
    'means received_at, ends at meta.complete_until where no end is given, and next_cursor is always there, so that ' +
    'who asks for it again and again gets each event once and misses none, however late it came. When ClickHouse has ' +
    'lost events in a crash, complete_until goes back until they are there again: who has read on meanwhile reads ' +
    'once more from the earliest complete_until, and leaves out the event_ids that are known.',
})

/** ORDER BY of events in this order; of a table with that name, whatever columns of its are selected under their names. */
export function orderBy(order: Order, table?: string): string {
  const direction = order === 'desc' ? ' DESC' : ''
  const columns = keyColumns(order).map((name) => `${table ? `${table}.` : ''}${name}${direction}`)
  return `ORDER BY ${columns.join(', ')}`
}

export const newestFirst = 'ORDER BY ts_millis DESC, event_id DESC'

/** The columns that place a row in the order of a page. */
export const keyColumns = (order: Order) => [timeColumn(order), 'event_id'] as const

export const timeColumn = (order: Order) => (order === 'received' ? 'received_at' : 'ts_millis')

/** SQL of bound milliseconds as the type of that column. */
export const timeOf = (order: Order, millis: string): string =>
  order === 'received' ? `fromUnixTimestamp64Milli(${millis}, 'UTC')` : millis

/** The comparison that holds for an event and all that follow it. */
export const fromHereOn = (order: Order): string => (order === 'desc' ? '<=' : '>=')

/** The same for all that follow an event. */
export const afterHere = (order: Order): string => (order === 'desc' ? '<' : '>')

/** The same for an event and all before it. */
export const fromHereBack = (order: Order): string => (order === 'desc' ? '>=' : '<=')

/** The same for all before an event. */
export const beforeHere = (order: Order): string => (order === 'desc' ? '>' : '<')

/** SQL of the key of the last of all rows, as `(milliseconds,'event_id')`. */
export function lastKey(order: Order): string {
  const millis = order === 'received' ? 'toUnixTimestamp64Milli(received_at)' : 'ts_millis'
  return `toString(${order === 'desc' ? 'min' : 'max'}((${millis}, event_id)) OVER ())`
}
