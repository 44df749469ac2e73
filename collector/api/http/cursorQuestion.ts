import { createHash } from 'node:crypto'
import { invalidParameter } from './errors.ts'

/** A hash of the parameters that choose the rows of a list. Its cursors contain it, and continue no other list. */
export const questionOf = (parameters: unknown): string =>
  createHash('sha256').update(JSON.stringify(parameters)).digest('base64url').slice(0, 16)

/** Throws 400 if a cursor was issued for other values of `names`. */
export function requireSameQuestion(
  cursor: { readonly question: string },
  question: string,
  names: string,
): void {
  if (cursor.question !== question)
    throw invalidParameter(
      'cursor',
      `was issued for another ${names}. Send it with the parameters of the first page, or omit it to start again.`,
    )
}
