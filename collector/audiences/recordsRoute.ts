import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { audienceProjectOf } from '../api/access/policy.ts'
import { access } from '../api/access/recordAccess.ts'
import { ApiError } from '../api/http/errors.ts'
import { untilClosed } from '../api/http/streaming.ts'
import { chargedMeta } from '../billing/chargedMeta.ts'
import { admit, settle } from '../billing/chargedRequest.ts'
import { type Audience, readAudience } from './audiences.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'
import { findMembersOf } from './findMembers.ts'
import { readMembers, readRows } from './memberRows.ts'
import { describeRecords, pageSize, recordsRefusals } from './recordsSchemas.ts'
import { readServedBuild } from './servedBuild.ts'

/** Where the next page begins: after this key of this build. */
interface Place {
  readonly buildId: string
  readonly after: number
}

/** GET /api/v1/audiences/{audience_id}/records: the members of the build that is served, page by page. */
export const recordsRoute =
  (deps: AudiencesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, billing, openReader } = deps
    const cursors = deps.cursors<Place>('audience_records')

    app.get(
      '/api/v1/audiences/:audience_id/records',
      {
        config: { access, charged: true, refusals: recordsRefusals },
        schema: describeRecords,
      },
      async (request, reply) => {
        const { principal, params, query } = request
        const { organizationId } = principal
        const projectId = await audienceProjectOf(postgres, request, 'identity')
        const audience = await readAudience(
          postgres,
          { organizationId, projectId },
          params.audience_id,
        )
        requirePeople(audience)
        const { meter } = audience
        const place = query.cursor === undefined ? null : cursors.read(audience.id, query.cursor)
        const { buildId, count } = await readServedBuild(postgres, audience)
        if (place && place.buildId !== buildId) throw cursorStale()
        const after = place?.after ?? 0
        const limit = query.page_size ?? pageSize.default
        const upTo = Math.min(after + limit, count)
        // Where the number of members is sold, only a page that is not full may tell that it is the last.
        const isNumberFree = audience.count !== null
        const isLast = isNumberFree ? upTo === count : upTo < after + limit
        const reader = openReader(principal, { effort: 'page', signal: untilClosed(reply) })

        const charge = await admit(billing, request, reply, {
          meter,
          projectId,
          recordsMax: isNumberFree ? upTo - after : limit,
          build: {
            buildId,
            keys: { after, upTo },
            ...(!isNumberFree && { askedKeys: { after, upTo: after + limit } }),
            findMembers: findMembersOf(reader, buildId),
          },
        })

        const range = { organizationId, buildId, after, upTo }
        const members = await readMembers({ reader, postgres }, range)
        // All rows are read before the charge: a page that fails half-way costs nothing.
        const rows = await readRows(reader, organizationId, members)

        const { charged } = await settle(charge, {
          records: members.length,
          hashes: () => members.map(({ key }) => String(key)),
        })

        reply.type('application/json; charset=utf-8')
        const total = isNumberFree || isLast ? { count, total: count } : {}
        return pageOf({ audience_id: audience.id, ...total }, rows, {
          ...(!isLast && { next_cursor: cursors.write(audience.id, { buildId, after: upTo }) }),
          meta: chargedMeta(meter, members.length, charged),
        })
      },
    )
  }

/** 422 (spec: Errors and limits): rows of companies are in files alone. */
export function requirePeople({ entity }: Audience): void {
  if (entity === 'people') return
  throw new ApiError(
    422,
    'use_download',
    'Audiences of companies have no records of people. Use the download route.',
  )
}

/** 409 (spec: Errors and limits): the build that a cursor belongs to is not served any more. */
export const cursorStale = () =>
  new ApiError(409, 'cursor_stale', 'The audience was rebuilt. Start again without a cursor.')

/** A page as JSON: some members, `results`, and others. */
export const pageOf = (before: object, results: readonly Buffer[], after: object): Buffer => {
  const rows = results.flatMap((row, index) => (index === 0 ? [row] : [comma, row]))
  const end = JSON.stringify(after).slice(1)
  return Buffer.concat([
    Buffer.from(`${JSON.stringify(before).slice(0, -1)},"results":[`),
    ...rows,
    Buffer.from(end === '}' ? ']}' : `],${end}`),
  ])
}

const comma = Buffer.from(',')
