import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { access } from '../api/access/recordAccess.ts'
import { ApiError } from '../api/http/errors.ts'
import { untilClosed } from '../api/http/streaming.ts'
import { spansOfKeys } from '../billing/buildPart.ts'
import { admit } from '../billing/chargedRequest.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'
import { findMembersOf } from './findMembers.ts'
import { countMembers, readMembers } from './memberRows.ts'
import { pageOf, readChargedRows, readPeopleAudience } from './peoplePage.ts'
import { readServedBuild } from './readableBuild.ts'
import { describeRecords, pageSize, recordsRefusals } from './recordsSchemas.ts'

/** Where the next page begins: after this key of this build. */
interface Place {
  readonly buildId: string
  readonly after: number
}

/** GET /api/v1/audiences/{audience_id}/records: the members of the build that is served, page by page. */
export const recordsRoute =
  (deps: AudiencesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, billing, openQueryExecutor } = deps
    const cursors = deps.cursors<Place>('audience_records')

    app.get(
      '/api/v1/audiences/:audience_id/records',
      {
        config: { access, charged: true, refusals: recordsRefusals },
        schema: describeRecords,
      },
      async (request, reply) => {
        const { principal, query } = request
        const { organizationId } = principal
        const { audience, projectId } = await readPeopleAudience(postgres, request)
        const place = query.cursor === undefined ? null : cursors.read(audience.id, query.cursor)
        const { buildId, count } = await readServedBuild(postgres, audience)
        if (place && place.buildId !== buildId) throw cursorStale()
        const after = place?.after ?? 0
        const limit = query.page_size ?? pageSize.default
        const queryExecutor = openQueryExecutor(principal, {
          effort: 'page',
          signal: untilClosed(reply),
        })

        const page = { organizationId, buildId, after, limit }
        const members = await readMembers({ queryExecutor, postgres }, page)
        const isFull = members.length === limit
        // Where the number of members is billed, only a page that is not full may say that it is the last.
        const isNumberFree = audience.count !== null
        const isLast = !isFull || (isNumberFree && members.at(-1)!.key === count)

        const admitted = await admit(billing, request, reply, {
          meter: audience.meter,
          projectId,
          recordsMax: isNumberFree ? Math.min(limit, count - after) : limit,
          build: {
            buildId,
            keys: spansOfKeys(members.map(({ key }) => key)),
            ...(!isNumberFree &&
              !isFull && { askedKeys: { after, upTo: Number.MAX_SAFE_INTEGER } }),
            findMembers: findMembersOf(queryExecutor, buildId),
          },
        })

        const { rows, meta } = await readChargedRows(queryExecutor, admitted, members)
        const total = isNumberFree
          ? count
          : isLast
            ? await countMembers({ queryExecutor, postgres }, page)
            : null

        reply.type('application/json; charset=utf-8')
        const before = { audience_id: audience.id, ...(total !== null && { count: total, total }) }
        return pageOf(before, rows, {
          ...(!isLast && {
            next_cursor: cursors.write(audience.id, { buildId, after: members.at(-1)!.key }),
          }),
          meta,
        })
      },
    )
  }

/** 409 (spec: Errors and limits): the build that a cursor belongs to is not served any more. */
export const cursorStale = () =>
  new ApiError(409, 'cursor_stale', 'The audience was rebuilt. Start again without a cursor.')
