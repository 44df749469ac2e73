const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Formats a time in the user's language and time zone. */
export const exactTime = (at: string): string => exact.format(new Date(at))
