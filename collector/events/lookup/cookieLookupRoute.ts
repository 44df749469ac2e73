import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { hem as hemField } from '../../../schemas/fields.ts'
import { access } from '../../api/access/recordAccess.ts'
import { Choice, Id, Nullable, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'
import { ChargedMeta, chargedMeta } from '../../billing/chargedMeta.ts'
import { admit, hashesOf, settle } from '../../billing/chargedRequest.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import type { ReadDeps } from '../query/readDeps.ts'
import { placeQuery, readScope } from '../query/scopeQuery.ts'

const everybody = '00000000-0000-0000-0000-000000000000'

/** GET /api/v1/lookup/cookie: the person of a browser, and the links that show it. */
export const cookieLookupRoute =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/lookup/cookie',
      {
        schema: describeCookie,
        config: {
          access,
          charged: true,
        },
      },
      async (request, reply) => {
        const { principal, query } = request
        const scope = await deps.scopeOf(principal, readScope(request), 'identity')
        const cookieId = query.cookie_id

        const admitted = await admit(deps.billing, request, reply, {
          meter: 'lookup',
          projectId: scope.projectId,
          recordsMax: 1,
        })

        const { signal } = admitted
        const queryExecutor = deps.openQueryExecutor(principal, { effort: 'page', signal })
        // The graph is used only for browsers with events in this organization.
        const [seen] = await queryExecutor.rows<object>(seenQuery(scope, cookieId))
        const linkRows = seen
          ? await queryExecutor.rows<LinkRow>(linksQuery(scope.organizationId, cookieId))
          : []
        const links = toLinks(linkRows)
        const counting = links.find(({ counts }) => counts)
        const records = counting ? 1 : 0

        const { charged } = await settle(admitted, {
          records,
          // The browser may belong to another person by the time of a repeat.
          hashes: () => hashesOf(counting ? [`${cookieId} ${counting.hem}`] : []),
        })

        return {
          cookie_id: cookieId,
          matched: counting !== undefined,
          hem: counting?.hem ?? null,
          links: counting ? links : [],
          meta: chargedMeta('lookup', records, charged),
        }
      },
    )
  }

interface LookupScope {
  organizationId: string
  projectId: string | null
  pixelId: string | null
}

const seenQuery = (
  { organizationId, projectId, pixelId }: LookupScope,
  cookieId: string,
): Query => ({
  sql: `
    SELECT 1 AS seen FROM events
    WHERE organization_id = {organization:UUID} AND cookie_id = {cookie:UUID}
      AND ({project:Nullable(UUID)} IS NULL OR project_id = {project:Nullable(UUID)})
      AND ({pixel:Nullable(UUID)} IS NULL OR pixel_id = {pixel:Nullable(UUID)})
    LIMIT 1`,
  params: { organization: organizationId, cookie: cookieId, project: projectId, pixel: pixelId },
})

interface LinkRow {
  hem: string
  source: string
  is_own: boolean
  is_vouched: boolean
  confidence: number
  observed_at: string
  /** The hem that reads use. */
  counting_hem: string | null
}

/** The links that may be followed, by rank, without links that the organization must not see. */
const linksQuery = (organizationId: string, cookieId: string): Query => ({
  sql: `
    WITH (SELECT ${hemField.alias} FROM (
      SELECT {organization:UUID} AS organization_id, {cookie:UUID} AS cookie_id)) AS counting
    SELECT toString(hem) AS hem, source, organization_id != {everybody:UUID} AS is_own,
      organization_id = {everybody:UUID} OR source IN ('signed', 'loaded') AS is_vouched,
      confidence, observed_at, counting AS counting_hem
    FROM identity_links FINAL
    WHERE cookie_id = {cookie:UUID} AND organization_id IN ({organization:UUID}, {everybody:UUID})
      AND (organization_id, cookie_id, hem) IN (
        SELECT organization_id, cookie_id, hem FROM followed_links WHERE cookie_id = {cookie:UUID})
      AND (organization_id != {everybody:UUID} OR ({organization:UUID}, cookie_id) NOT IN (
        SELECT organization_id, cookie_id FROM hidden_cookies WHERE cookie_id = {cookie:UUID}))
    ORDER BY is_own AND is_vouched DESC, NOT is_own DESC, confidence DESC, observed_at DESC, hem
    LIMIT 100`,
  params: { organization: organizationId, cookie: cookieId, everybody },
})

function toLinks(rows: readonly LinkRow[]): Link[] {
  const place = rows.findIndex(({ hem, counting_hem }) => hem === counting_hem)
  const winner = rows[place]
  return rows.map((row, index) => ({
    hem: row.hem,
    source: row.source,
    observed_by: row.is_own ? 'organization' : 'operator',
    confidence: row.confidence,
    observed_at: row.observed_at,
    counts: row === winner,
    reason:
      winner && index >= place ? reasonOf(row, winner) : 'Too new. It is used within minutes.',
  }))
}

const rankOf = ({ is_own, is_vouched }: LinkRow): number =>
  is_own && is_vouched ? 0 : is_own ? 2 : 1

const classes = [
  'links that your site’s server signed, or that were loaded for you',
  'the operator’s graph',
  'unsigned links from pages',
]

function reasonOf(row: LinkRow, winner: LinkRow): string {
  if (row === winner)
    return `Used: ${classes[rankOf(row)]} have the highest priority among the links of this browser.`
  if (row.hem === winner.hem) return 'Identical to the link that is used.'
  if (rankOf(row) > rankOf(winner)) return `After ${classes[rankOf(winner)]}.`
  if (row.confidence !== winner.confidence) return 'Lower confidence than the link that is used.'
  if (row.observed_at !== winner.observed_at) return 'Seen earlier than the link that is used.'
  return 'Same confidence and time as the link that is used, which has the smaller hash.'
}

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
type Link = Static<typeof Link>

/** GET /api/v1/lookup/cookie: an addition. */
const describeCookie = {
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
