import type { Static } from 'typebox'
import type { Field } from '../../schemas/fields.ts'
import { invalidParameter } from '../http/errors.ts'
import { personFields, readPersonFields } from '../people/identity/people.ts'
import { type Filter, readFilterOf, readFilters } from '../query/filter.ts'
import { contactLimit, type QueryBody } from './schemas.ts'

/** People who meet all filters, one by one in the order of their key. */
export interface ContactPlan {
  readonly filters: readonly Filter[]
  /** Null: every field of a person. */
  readonly fields: readonly Field[] | null
  readonly limit: number
  /** The key of the last person of the page before; null on the first. */
  readonly after: string | null
}

/** All that is known of people is for whoever pays for contacts. */
const tier = 'resolution_full_profile'

/**
 * Reads the body of a contact query; `readCursor` gives the key that a cursor holds. Throws 400 that names the member.
 */
export function readContactBody(
  { filter, select, limit, cursor }: Static<typeof QueryBody>,
  readCursor: (cursor: string) => string,
): ContactPlan {
  return {
    filters: readPersonFilters(filter),
    fields: readPersonFields(select),
    limit: limit ?? contactLimit.default,
    after: cursor === undefined ? null : readCursor(cursor),
  }
}

function readPersonFilters(given: Static<typeof QueryBody>['filter']): readonly Filter[] {
  const filters =
    typeof given === 'string'
      ? readFilters(given, tier)
      : given.map((parts) => readFilterOf({ ...parts, value: String(parts.value) }, tier))
  const other = filters.find(({ field }) => !field || !personFields.includes(field))
  if (other) {
    const name = other.field?.name ?? 'event_data'
    throw invalidParameter('filter', `${name} is a field of events, not of a person`)
  }
  return filters
}
