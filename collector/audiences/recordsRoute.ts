import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { access } from '../api/access/recordAccess.ts'
import { ApiError } from '../api/http/errors.ts'
import { untilClosed } from '../api/http/streaming.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'
import { readMembers } from './memberRows.ts'
import { pageOf, readChargedRows, readPeopleAudience } from './peoplePage.ts'
import { readServedBuild } from './readableBuild.ts'
import { describeRecords, pageSize, recordsRefusals } from './recordsSchemas.ts'
import { readShownNumbers } from './shownNumbers.ts'

/** Where the next page begins: after this key of this build, which had `count` records on the first page. */
interface RecordsPosition {
  readonly buildId: string
  readonly after: number
  readonly count: number
}

/** GET /api/v1/audiences/{audience_id}/records: the members of the build that is served, page by page. */
export const recordsRoute =
  (deps: AudiencesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, billing, openQueryExecutor } = deps
    const cursors = deps.cursors<RecordsPosition>('audience_records')

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
        const { buildId } = await readServedBuild(postgres, audience)
        if (place && place.buildId !== buildId) throw cursorStale()
        const after = place?.after ?? 0
        const limit = query.page_size ?? pageSize.default
        const queryExecutor = openQueryExecutor(principal, {
          effort: 'page',
          signal: untilClosed(reply),
        })

        const stores = { queryExecutor, postgres }
        const page = await readMembers(stores, {
          organizationId,
          buildId,
          after,
          limit: limit + 1,
        })
        const members = page.slice(0, limit)
        const { rows, meta } = await readChargedRows({ billing, queryExecutor }, request, reply, {
          meter: audience.meter,
          projectId,
          buildId,
          members,
        })

        const count =
          place?.count ??
          (await readShownNumbers(stores, organizationId, [buildId])).get(buildId)!.count
        const next = page.length > limit && { buildId, after: members.at(-1)!.key, count }
        reply.type('application/json; charset=utf-8')
        return pageOf({ audience_id: audience.id, count, total: count }, rows, {
          ...(next && { next_cursor: cursors.write(audience.id, next) }),
          meta,
        })
      },
    )
  }

/** 409 (spec: Errors and limits): the build that a cursor belongs to is not served any more. */
export const cursorStale = () =>
  new ApiError(409, 'cursor_stale', 'The audience was rebuilt. Start again without a cursor.')
