import type { WarnLog } from './log.ts'

const repeatMs = 60_000

/** A log of failures that are retried many times a second: the same message and error is logged once a minute. */
export function seldomLog(log: WarnLog, now: () => number = () => performance.now()): WarnLog {
  const loggedAt = new Map<string, number>()
  return {
    warn(fields, message) {
      const key = `${message} ${fields.error}`
      const last = loggedAt.get(key)
      if (last !== undefined && now() - last < repeatMs) return
      if (loggedAt.size > 100) loggedAt.clear()
      loggedAt.set(key, now())
      log.warn(fields, message)
    },
  }
}
