const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Formats a time in the user's language and time zone. */
export const exactTime = (at: string): string => exact.format(new Date(at))

/** Formats a time for a form field: in the user's time zone, to the minute. */
export function localTime(millis: number): string {
  const at = new Date(millis)
  return new Date(millis - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
