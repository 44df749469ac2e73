import { eventTime, startOf } from '../format.ts'
import { projectOfPath } from '../projectPath.ts'
import { currentPath } from '../router.tsx'
import { isShared } from '../shared.ts'
import { zone } from '../zone.ts'

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Whether the page has the time zone of a project. Other pages have the user's. */
const hasZone = (): boolean => isShared() || projectOfPath(currentPath.value) !== undefined

/** Formats a time in the user's language and the page's time zone. */
export const exactTime = (at: string): string =>
  hasZone() ? eventTime(at) : exact.format(new Date(at))

const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

/** Formats the day of a time in the user's language and the page's time zone. */
export const exactDay = (at: string): string =>
  hasZone() ? startOf('day', Date.parse(at)) : day.format(new Date(at))

/** Formats a time for a form field: in the page's time zone, to the minute. */
export function localTime(millis: number): string {
  const offset = hasZone()
    ? zone.value.offsetAt(millis)
    : -new Date(millis).getTimezoneOffset() * 60_000
  return new Date(millis + offset).toISOString().slice(0, 16)
}

/** Returns the time (epoch milliseconds) of a form field that `localTime` has filled. */
export const millisOf = (local: string): number =>
  hasZone() ? zone.value.instantOf(Date.parse(`${local}Z`)) : Date.parse(local)
