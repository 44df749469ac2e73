/** Whether a text is a day that exists, such as 2024-02-29. Date.parse takes 30 February for 1 or 2 March. */
export function dayExists(day: string): boolean {
  const parsed = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(day) : Number.NaN
  return !Number.isNaN(parsed) && new Date(parsed).toISOString().startsWith(day)
}
