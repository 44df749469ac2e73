import type { Static } from 'typebox'
import type { Field } from '../../../schemas/fields.ts'
import { personFields, readPersonFields } from '../../identity/store/people.ts'
import type { Filter } from '../query/filter.ts'
import { readProfileFilters } from '../query/profileFilter.ts'
import { contactLimit, type QueryBody } from './contactSchemas.ts'

/** People who meet all filters, in the order of their key. */
export interface ContactPlan {
  readonly filters: readonly Filter[]
  /** Null: all fields of a person. */
  readonly fields: readonly Field[] | null
  readonly limit: number
  /** The key of the last person of the previous page; null on the first. */
  readonly after: string | null
}

/**
 * Reads the body of a contact query; `readCursor` returns the key in a cursor. Throws 400 that names the
 * member.
 */
export function readContactBody(
  { filter, select, limit, cursor }: Static<typeof QueryBody>,
  readCursor: (cursor: string) => string,
): ContactPlan {
  return {
    filters: readProfileFilters(filter, personFields, 'person'),
    fields: readPersonFields(select),
    limit: limit ?? contactLimit.default,
    after: cursor === undefined ? null : readCursor(cursor),
  }
}
