import { messageTypes } from './message.ts'

/** The calls of Segment's API. */
export const calls = [...messageTypes, 'batch'] as const
export type CallName = (typeof calls)[number]

export const longPath = (call: CallName): string => `/api/v1/${call}`

/** analytics.js names calls by their first letters. */
export const shortPath = (call: CallName): string => `/api/v1/${call[0]}`

/** Where analytics.js sends measurements of itself. */
export const measurementsPath = '/api/v1/m'

/** All paths of Segment's API; without /api, too (api/http/versionPaths.ts). */
export const segmentPaths: readonly string[] = [
  ...calls.map(longPath),
  ...calls.map(shortPath),
  measurementsPath,
]
