import { messageTypes } from './message.ts'

export const calls = [...messageTypes, 'batch'] as const
export type CallName = (typeof calls)[number]

export const longPath = (call: CallName): string => `/api/v1/${call}`

/** Returns the short path of a call, because analytics.js names calls by their first letters. */
export const shortPath = (call: CallName): string => `/api/v1/${call[0]}`

/** The path to which analytics.js sends its own metrics. */
export const measurementsPath = '/api/v1/m'

/** All paths of Segment's API; they also work without /api (api/http/versionPaths.ts). */
export const segmentPaths: readonly string[] = [
  ...calls.map(longPath),
  ...calls.map(shortPath),
  measurementsPath,
]
