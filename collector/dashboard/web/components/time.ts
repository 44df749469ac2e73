const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** A moment in the reader's own time and words. */
export const exactTime = (at: string): string => exact.format(new Date(at))
