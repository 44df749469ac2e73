import { Type } from 'typebox'
import { Bytes, strictObject } from '../../api/http/commonSchemas.ts'
import { NextCursor } from '../../api/http/pagination.ts'
import { ChargedMeta } from '../../billing/chargedMeta.ts'
import { Person, SelectOfPerson } from '../../identity/store/personSchemas.ts'
import { ProfileFilter } from '../query/profileFilter.ts'

export const contactLimit = { default: 100, max: 1000 } as const

/** Longest cursor: the key of a person. */
const cursorCharsMax = 8192

export const QueryBody = strictObject({
  filter: ProfileFilter,
  select: Type.Optional(SelectOfPerson),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: contactLimit.max,
      default: contactLimit.default,
      description: 'Most people of the page.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: cursorCharsMax,
      description: 'next_cursor of the page before, with the same filter.',
    }),
  ),
})

/** POST /api/v1/contact/query. */
export const describeContact = {
  tags: ['Identity'],
  operationId: 'queryContacts',
  summary: 'Query people by the fields of their profiles',
  description:
    'One result for each person with a business e-mail (pte_person_id where it is known), in an order that does not ' +
    'change. Each is charged on the meter contact. A business e-mail is an address in business_email, else one in ' +
    'email at company_domain; an address at a public mail provider is none. People without one are left out.',
  body: QueryBody,
  response: {
    200: Bytes(
      Type.Object({
        results: Type.Array(Person),
        count: Type.Integer({ description: 'People in this page.' }),
        with_business_email: Type.Integer({
          description: 'The same: all of them have a business e-mail.',
        }),
        charged: Type.Integer({ description: 'Records charged.' }),
        meta: ChargedMeta,
        next_cursor: NextCursor,
      }),
    ),
  },
}
