import { type Static, Type } from 'typebox'
import { Choice, Id, Nullable, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'
import { ChargedMeta } from '../../billing/chargedMeta.ts'
import { placeQuery } from '../query/scopeQuery.ts'

const Link = Type.Object(
  {
    hem: Type.String(),
    source: Type.String({ description: '`identify`, `form`, `signed` or `loaded`.' }),
    observed_by: Choice(['organization', 'operator'], {
      description: 'By one of your own sites, or in the operator’s graph.',
    }),
    confidence: Type.Number({ minimum: 0, maximum: 1 }),
    observed_at: Timestamp,
    counts: Type.Boolean({ description: 'Whether reads go by it.' }),
    reason: Type.String({ description: 'Why it counts or does not, for people.' }),
  },
  { title: 'IdentityLink' },
)
export type Link = Static<typeof Link>

/** GET /api/v1/lookup/cookie: an addition. */
export const describeCookie = {
  tags: ['Identity'],
  operationId: 'lookUpCookie',
  summary: 'Look up the person of a browser by cookie, with the evidence',
  description:
    'All links of a browser that events of yours came from, the first to count first: what your site’s server signed or was ' +
    'loaded for you, then the operator’s graph, then what pages said unsigned; of these the surest, then the last seen. ' +
    'Who opted out is not among them. Charged as one record on the meter lookup, a miss is free.',
  querystring: strictObject({ ...placeQuery, cookie_id: Id }),
  response: {
    200: Type.Object({
      cookie_id: Id,
      matched: Type.Boolean(),
      hem: Nullable(Type.String()),
      links: Type.Array(Link, { description: 'None of a miss.' }),
      meta: ChargedMeta,
    }),
  },
} as const
