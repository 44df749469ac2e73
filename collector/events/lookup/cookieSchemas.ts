import { type Static, Type } from 'typebox'
import { Choice, Id, Nullable, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'
import { ChargedMeta } from '../../billing/chargedMeta.ts'
import { placeQuery } from '../query/scopeQuery.ts'

const Link = Type.Object(
  {
    hem: Type.String(),
    source: Type.String({ description: '`identify`, `form`, `signed` or `loaded`.' }),
    observed_by: Choice(['organization', 'operator'], {
      description: 'Origin of the link: one of your own sites, or the operator’s graph.',
    }),
    confidence: Type.Number({ minimum: 0, maximum: 1 }),
    observed_at: Timestamp,
    counts: Type.Boolean({ description: 'True if reads use this link.' }),
    reason: Type.String({ description: 'Explanation for people why the link is used or not.' }),
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
    'Returns all links of a browser that sent events to your organization, in order of priority. Links that your ' +
    'site’s server signed or that were loaded for you come first. The operator’s graph follows, then unsigned links ' +
    'from pages. Within each group, higher confidence comes first, then the later time. Excludes people who opted out. ' +
    'Charged as one record on the meter lookup. A miss is free.',
  querystring: strictObject({ ...placeQuery, cookie_id: Id }),
  response: {
    200: Type.Object({
      cookie_id: Id,
      matched: Type.Boolean(),
      hem: Nullable(Type.String()),
      links: Type.Array(Link, { description: 'Empty for a miss.' }),
      meta: ChargedMeta,
    }),
  },
} as const
