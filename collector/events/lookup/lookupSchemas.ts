import { Type } from 'typebox'
import { companyFields } from '../../../schemas/fields.ts'
import { Bytes, Nullable, strictObject } from '../../api/http/commonSchemas.ts'
import { ItemError } from '../../api/http/itemErrors.ts'
import { wholeRow } from '../../api/http/rowSchemas.ts'
import { ChargedMeta } from '../../billing/chargedMeta.ts'
import { Person, SelectOfPerson } from '../../identity/store/personSchemas.ts'
import { itemsMax } from './batchItems.ts'

const tags = ['Identity']

const Email = Type.String({
  description: 'The e-mail address; it is trimmed, lower-cased and hashed, and not kept.',
})
const Hem = Type.String({
  description: 'SHA-256, hex, of the trimmed, lower-cased e-mail address.',
})

/** Texts are checked where they are read, so that single lookups and items of a batch say the same of them. */
export const SubjectQuery = strictObject({
  hem: Type.Optional(Hem),
  email: Type.Optional(Email),
  select: Type.Optional(SelectOfPerson),
})

const Found = Type.Object(
  { matched: Type.Boolean(), person: Nullable(Person), meta: ChargedMeta },
  { title: 'PersonLookup', description: 'The person, or null where nobody is known.' },
)

const about = {
  tags,
  description:
    'Give hem or email. A person is charged on the meter lookup, a miss is free; X-Footfall-Charged tells. Who is known ' +
    'by several addresses is found by each of them; pte_person_id is the same then.',
  response: { 200: Bytes(Found) },
}

/** GET /api/v1/lookup. */
export const describeGet = {
  ...about,
  operationId: 'lookUpPerson',
  summary: 'Look up a person by e-mail address',
  querystring: SubjectQuery,
}

/** POST /api/v1/lookup: the same with the address kept out of logs of addresses. */
export const describePost = {
  ...about,
  operationId: 'lookUpPersonByBody',
  summary: 'Look up a person by e-mail address, sent in a body',
  body: SubjectQuery,
}

const Item = Type.Unknown({
  description:
    '{ "id"?: text of at most 255 characters, empty or repeated as you like, "hem" or "email": text }. What is wrong with an item is told in its ' +
    'result and costs the others nothing.',
})

const BatchBody = strictObject({
  items: Type.Array(Item, { maxItems: itemsMax }),
  select: Type.Optional(SelectOfPerson),
})

/** POST /api/v1/lookup/batch. */
export const describeBatch = {
  tags,
  operationId: 'lookUpPeople',
  summary: `Look up people by e-mail address, up to ${itemsMax.toLocaleString('en')}`,
  description:
    'Results stand in the order of the items. Each person returned is charged on the meter lookup, so two items of ' +
    'one person are two; misses and items with an error are free.',
  body: BatchBody,
  response: {
    200: Bytes(
      Type.Object({
        results: Type.Array(
          Type.Object(
            {
              index: Type.Integer({ description: 'Of the item, from 0.' }),
              id: Nullable(Type.String({ description: 'As the item has it.' })),
              matched: Type.Boolean(),
              person: Nullable(Person),
              error: Type.Optional(ItemError),
            },
            { title: 'LookupResult' },
          ),
        ),
        count: Type.Integer({ description: 'Items.' }),
        matched: Type.Integer({ description: 'Items with a person.' }),
        charged: Type.Integer({ description: 'Records charged.' }),
        meta: ChargedMeta,
      }),
    ),
  },
}

/** Which of them is there is checked where they are read. */
export const CompanyQuery = strictObject({
  ip: Type.Optional(Type.String({ description: 'An IPv4 or IPv6 address that the company uses.' })),
  domain: Type.Optional(
    Type.String({ description: 'The domain of its website, with or without www.' }),
  ),
  email: Type.Optional(Type.String({ description: 'An e-mail address at its domain.' })),
})

/** A company has every field, null where nobody knows it. */
const Company = wholeRow('Company', companyFields)

/** GET /api/v1/lookup/company: an addition. */
export const describeCompany = {
  tags,
  operationId: 'lookUpCompany',
  summary: 'Look up a company by IP address, domain or e-mail address',
  description:
    'Give one of the three. An address belongs to the smallest network around it. A company is charged as one record on ' +
    'the meter lookup, a miss is free.',
  querystring: CompanyQuery,
  response: {
    200: Type.Object({ matched: Type.Boolean(), company: Nullable(Company), meta: ChargedMeta }),
  },
}
