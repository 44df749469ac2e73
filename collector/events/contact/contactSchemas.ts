import { Type } from 'typebox'
import { Bytes, strictObject } from '../../api/http/commonSchemas.ts'
import { NextCursor } from '../../api/http/pagination.ts'
import { ChargedMeta } from '../../billing/chargedMeta.ts'
import { Person, SelectOfPerson } from '../../identity/store/personSchemas.ts'
import { ProfileFilter } from '../query/profiles/profileFilter.ts'

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
      description: 'Maximum number of people in a page.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: cursorCharsMax,
      description: '`next_cursor` of the previous page. Send the same filter.',
    }),
  ),
})

/** POST /api/v1/contact/query. */
export const describeContact = {
  tags: ['Identity'],
  operationId: 'queryContacts',
  summary: 'Query people by the fields of their profiles',
  description:
    'Returns one result for each person with a business e-mail, in a stable order. A person is counted once by ' +
    'pte_person_id, otherwise by hem. Charged per result on the meter contact. The business e-mail is ' +
    'business_email, otherwise an email at company_domain. Addresses at public mail providers do not count.',
  body: QueryBody,
  response: {
    200: Bytes(
      Type.Object({
        results: Type.Array(Person),
        count: Type.Integer({ description: 'Number of people in this page.' }),
        with_business_email: Type.Integer({
          description:
            'The same as the number of people, because each of them has a business e-mail.',
        }),
        charged: Type.Integer({ description: 'Records charged.' }),
        meta: ChargedMeta,
        next_cursor: NextCursor,
      }),
    ),
  },
}
