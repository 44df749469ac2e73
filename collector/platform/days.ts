export const hourMs = 3_600_000
export const dayMs = 24 * hourMs

/** Returns the UTC day of a time as YYYY-MM-DD. */
export const dateAt = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

/** Returns a UTC day, counted from 1970, as YYYY-MM-DD. */
export const dateOf = (day: number): string => dateAt(day * dayMs)

/** Whether a text is a day that exists, such as 2024-02-29. Date.parse takes 30 February for 1 or 2 March. */
export function dayExists(day: string): boolean {
  const parsed = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(day) : Number.NaN
  return !Number.isNaN(parsed) && new Date(parsed).toISOString().startsWith(day)
}
