/**
 * In which order a page has its events: by time, newest first or oldest first; of the same millisecond by id.
 */
export const orders = ['desc', 'asc'] as const
export type Order = (typeof orders)[number]

/** ORDER BY of events in this order. */
export const orderBy = (order: Order): string =>
  order === 'desc' ? newestFirst : 'ORDER BY ts_millis, event_id'

export const newestFirst = 'ORDER BY ts_millis DESC, event_id DESC'

/** The comparison that holds for an event and all that follow it. */
export const fromHereOn = (order: Order): string => (order === 'desc' ? '<=' : '>=')

/** The aggregate function that finds the key of the last row. */
export const lastOf = (order: Order): string => (order === 'desc' ? 'min' : 'max')
