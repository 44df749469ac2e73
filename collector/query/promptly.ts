/**
 * Setting of short queries that are read with a scan's limits: their threads are not niced, so that somebody's pages do not
 * make them wait. Beside processes that take all processors they take two thirds of what
 * niced ones take.
 */
export const promptly = 'os_thread_priority = 0'
