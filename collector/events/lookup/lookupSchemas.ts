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
  description:
    'E-mail address. The service trims, lower-cases and hashes it, and does not store it.',
})
const Hem = Type.String({
  description: 'SHA-256, hex, of the trimmed, lower-cased e-mail address.',
})

/** Texts are checked when they are read, so that single lookups and items of a batch have the same errors. */
export const SubjectQuery = strictObject({
  hem: Type.Optional(Hem),
  email: Type.Optional(Email),
  select: Type.Optional(SelectOfPerson),
})

const Found = Type.Object(
  { matched: Type.Boolean(), person: Nullable(Person), meta: ChargedMeta },
  { title: 'PersonLookup', description: 'The person, or null for a miss.' },
)

const about = {
  tags,
  description:
    'Accepts keys, and sessions of organization admins. Project admins need a key of their project, whose budget then limits the charges. ' +
    'Give hem or email. Any known address of a person finds the person, with the same pte_person_id. Charged on the ' +
    'meter lookup, as X-Footfall-Charged reports. A miss is free.',
  response: { 200: Bytes(Found) },
}

/** GET /api/v1/lookup. */
export const describeGet = {
  ...about,
  operationId: 'lookUpPerson',
  summary: 'Look up a person by e-mail address',
  querystring: SubjectQuery,
}

/** POST /api/v1/lookup: like GET, but the address is not in logs of URLs. */
export const describePost = {
  ...about,
  operationId: 'lookUpPersonByBody',
  summary: 'Look up a person by e-mail address, sent in a body',
  body: SubjectQuery,
}

const Item = Type.Unknown({
  description:
    'An object with "hem" or "email". The optional "id" is a string of at most 255 characters. It does not have to be ' +
    'unique. An error of an item is reported in its result and does not affect other items.',
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
    'Accepts the callers of a single lookup. Returns the results in the order of the items. Charged on the meter lookup for each person returned, so two ' +
    'items of one person count twice. Misses and items with an error are free.',
  body: BatchBody,
  response: {
    200: Bytes(
      Type.Object({
        results: Type.Array(
          Type.Object(
            {
              index: Type.Integer({ description: 'Position of the item, from 0.' }),
              id: Nullable(Type.String({ description: 'The id of the item.' })),
              matched: Type.Boolean(),
              person: Nullable(Person),
              error: Type.Optional(ItemError),
            },
            { title: 'LookupResult' },
          ),
        ),
        count: Type.Integer({ description: 'Items.' }),
        matched: Type.Integer({ description: 'Number of items with a person.' }),
        charged: Type.Integer({ description: 'Records charged.' }),
        meta: ChargedMeta,
      }),
    ),
  },
}

/** The route checks that exactly one is given. */
export const CompanyQuery = strictObject({
  ip: Type.Optional(Type.String({ description: 'IPv4 or IPv6 address that the company uses.' })),
  domain: Type.Optional(
    Type.String({ description: 'Domain of the website, with or without www.' }),
  ),
  email: Type.Optional(
    Type.String({ description: 'E-mail address at the domain of the company.' }),
  ),
})

/** A company has every field, null if unknown. */
const Company = wholeRow('Company', companyFields)

/** GET /api/v1/lookup/company: an addition. */
export const describeCompany = {
  tags,
  operationId: 'lookUpCompany',
  summary: 'Look up a company by IP address, domain or e-mail address',
  description:
    'Give one of ip, domain and email. An address is matched to the smallest network that contains it. Charged as one ' +
    'record on the meter lookup. A miss is free.',
  querystring: CompanyQuery,
  response: {
    200: Type.Object({ matched: Type.Boolean(), company: Nullable(Company), meta: ChargedMeta }),
  },
}
