/** A record with Dates from PostgreSQL instead of the response's timestamps. */
export type WithDates<T, Names extends keyof T> = Omit<T, Names> & {
  [Name in Names]: null extends T[Name] ? Date | null : Date
}

export const timestampOf = (date: Date | null): string | null => date?.toISOString() ?? null
