import { ClickHouseRefused } from '../storeErrors.ts'

/**
 * ClickHouse's codes for data that it can never read: CANNOT_PARSE_* and similar. Other errors (too many
 * parts, memory, read-only, unknown table, …) may be temporary, so the insert is retried.
 */
const dataErrors = new Set([
  6, 26, 27, 33, 38, 41, 53, 69, 70, 72, 85, 117, 130, 131, 349, 376, 407, 441, 467, 469, 490, 531,
  675, 676,
])

export const isDataError = (error: unknown): error is ClickHouseRefused =>
  error instanceof ClickHouseRefused && dataErrors.has(error.code)
