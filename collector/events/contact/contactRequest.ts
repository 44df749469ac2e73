import type { Static } from 'typebox'
import type { Field } from '../../../schemas/fields.ts'
import { questionOf, requireSameQuestion } from '../../api/http/cursorQuestion.ts'
import { personFields, readPersonFields } from '../../identity/store/people.ts'
import type { Filter } from '../query/filter/filter.ts'
import { readProfileFilters } from '../query/profiles/profileFilter.ts'
import { contactLimit, type QueryBody } from './contactSchemas.ts'

/** People who meet all filters, in the order of their key. */
export interface ContactPlan {
  readonly filters: readonly Filter[]
  /** Null: all fields of a person. */
  readonly fields: readonly Field[] | null
  readonly limit: number
  /** The key of the last person of the previous page; null on the first. */
  readonly after: string | null
  /** Of the filters; cursors of others are refused. */
  readonly question: string
}

/** The position in a cursor: the key of the last person of a page. */
export interface ContactCursor {
  readonly after: string
  readonly question: string
}

/** Reads the body of a contact query. Throws 400 that names the member. */
export function readContactBody(
  { filter, select, limit, cursor }: Static<typeof QueryBody>,
  readCursor: (cursor: string) => ContactCursor,
): ContactPlan {
  const filters = readProfileFilters(filter, personFields, 'person')
  const question = questionOf(filters)
  const place = cursor === undefined ? null : readCursor(cursor)
  if (place) requireSameQuestion(place, question, 'filter')
  return {
    filters,
    fields: readPersonFields(select),
    limit: limit ?? contactLimit.default,
    after: place?.after ?? null,
    question,
  }
}
