import { invalidParameter } from '../../api/http/errors.ts'

/** Throws 400 when the first day is after the last. Days are YYYY-MM-DD; an absent one is open. */
export function requireDaysInOrder({
  start_date: start,
  end_date: end,
}: {
  start_date?: string | undefined
  end_date?: string | null | undefined
}): void {
  if (start && end && end < start)
    throw invalidParameter('end_date', `must not be before start_date (got ${start} to ${end})`)
}
