import { signal } from '@preact/signals'
import { type TimeZone, utc } from '../../platform/timeZone.ts'

/** The time zone of the project on the page; UTC on other pages. */
export const zone = signal<TimeZone>(utc)

/** The display name of a zone: "Europe/Berlin" becomes "Berlin time". */
export const zoneText = (): string =>
  zone.value.name === 'UTC'
    ? 'UTC'
    : `${zone.value.name.split('/').at(-1)!.replaceAll('_', ' ')} time`
