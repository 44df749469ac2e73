import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { numberAsHem } from '../../schemas/fields.ts'
import { access } from '../api/access/recordAccess.ts'
import { notFound } from '../api/http/errors.ts'
import { untilClosed } from '../api/http/streaming.ts'
import { bindings } from '../events/query/bind.ts'
import {
  erasedHems,
  isSuppressed,
  suppressedPeople,
} from '../events/query/profiles/suppressedPeople.ts'
import { personOf } from '../identity/store/personSql.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { Queryable } from '../platform/postgres/transaction.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'
import { meterOf } from './builds.ts'
import type { Member } from './memberRows.ts'
import { pageOf, readChargedRows, readPeopleAudience } from './peoplePage.ts'
import { type ReadableBuild, readReadableBuild } from './readableBuild.ts'
import { changesRefusals, describeChanges, pageSize } from './recordsSchemas.ts'

/** The start of the next page: a key of the build for entries, or of the previous build for exits. */
interface ChangesPosition {
  readonly change: Change
  readonly after: number
}

/** GET …/builds/{build_id}/changes: the entries and exits since the previous build, charged like records. */
export const changesRoute =
  (deps: AudiencesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, billing, openQueryExecutor } = deps
    const cursors = deps.cursors<ChangesPosition>('audience_changes')

    app.get(
      '/api/v1/audiences/:audience_id/builds/:build_id/changes',
      {
        config: { access, charged: true, refusals: changesRefusals },
        schema: describeChanges,
      },
      async (request, reply) => {
        const { principal, params, query } = request
        const { organizationId } = principal
        const { audience, projectId } = await readPeopleAudience(postgres, request)
        const { build, previous } = await readBuilds(postgres, audience.id, params.build_id)
        const { change, after } =
          query.cursor === undefined
            ? ({ change: 'entered', after: 0 } as const)
            : cursors.read(build.buildId, query.cursor)
        const [of, other] = change === 'entered' ? [build, previous] : [previous!, build]
        const limit = query.page_size ?? pageSize.default
        const queryExecutor = openQueryExecutor(principal, {
          effort: 'page',
          signal: untilClosed(reply),
        })

        const page = await queryExecutor.rows<Member>(
          changedMembersQuery({
            organizationId,
            erased: await erasedHems(postgres, organizationId),
            after,
            limit: limit + 1,
            buildId: of.buildId,
            otherId: other?.buildId ?? null,
          }),
        )
        const members = page.slice(0, limit)
        const { rows, meta } = await readChargedRows({ billing, queryExecutor }, request, reply, {
          meter: meterOf(build.isPredictive),
          projectId,
          buildId: of.buildId,
          members,
        })

        const next = placeAfter(change, members, {
          hasMore: page.length > limit,
          hasLeft: previous !== null,
        })
        reply.type('application/json; charset=utf-8')
        return pageOf(
          {
            audience_id: audience.id,
            build_id: build.buildId,
            previous_build_id: previous?.buildId ?? null,
          },
          rows.map((row) => Buffer.concat([begun[change], row.subarray(1)])),
          {
            ...(next && { next_cursor: cursors.write(build.buildId, next) }),
            meta,
          },
        )
      },
    )
  }

/** Start of the next page: entries first, then exits; null after the last one. */
const placeAfter = (
  change: Change,
  members: readonly Member[],
  { hasMore, hasLeft }: { hasMore: boolean; hasLeft: boolean },
): ChangesPosition | null => {
  if (hasMore) return { change, after: members.at(-1)!.key }
  return change === 'entered' && hasLeft ? { change: 'left', after: 0 } : null
}

/** The beginning of a row, which contains its change. */
const begun: Record<Change, Buffer> = {
  entered: Buffer.from('{"change":"entered",'),
  left: Buffer.from('{"change":"left",'),
}

/**
 * Reads a completed build and the previous completed one. The changes reveal the members of both, so a previous build on
 * another meter is ignored. Throws 404 for an unknown id, and 409 "not_ready".
 */
async function readBuilds(
  client: Queryable,
  audienceId: string,
  buildId: string,
): Promise<{ build: ReadableBuild; previous: ReadableBuild | null }> {
  const { rows } = await client.query<{ previous_id: string | null }>(
    `SELECT (SELECT CASE WHEN is_predictive = build.is_predictive THEN build_id END FROM audience_builds AS earlier
             WHERE earlier.audience_id = build.audience_id AND status = 'completed' AND number < build.number
             ORDER BY number DESC LIMIT 1) AS previous_id
     FROM audience_builds AS build WHERE build_id = $1 AND audience_id = $2`,
    [buildId, audienceId],
  )
  if (!rows[0]) throw notFound.build()
  const { previous_id: previousId } = rows[0]
  return {
    build: await readReadableBuild(client, audienceId, buildId),
    previous: previousId === null ? null : await readReadableBuild(client, audienceId, previousId),
  }
}

/** How a person's membership changed between two builds. */
type Change = 'entered' | 'left'

/** The members of one build who are not in another; null: all. */
interface ChangesPlan {
  readonly organizationId: string
  readonly buildId: string
  readonly otherId: string | null
  /** The key after which the page begins. */
  readonly after: number
  readonly limit: number
  /** Hems of people who are being erased. */
  readonly erased: readonly string[]
}

/**
 * Selects `key` and `hem` of these members, sorted by key. Builds are sorted by hem. So it reads the other
 * build only from the page's first hem on, and people there who may have had another address.
 */
function changedMembersQuery(plan: ChangesPlan): Query {
  const { bind, params } = bindings()
  const build = bind('UUID', plan.buildId)
  const after = bind('Int64', plan.after)
  const others =
    plan.otherId === null
      ? ''
      : `
  AND ${personOf('hem_number')} NOT IN (
    SELECT ${personOf('hem_number')} FROM audience_members
    WHERE build_id = ${bind('UUID', plan.otherId)} AND (dictHas('person_by_hem', tuple(hem_number)) OR hem_number >= (
      SELECT min(hem_number) FROM audience_members WHERE build_id = ${build} AND key > ${after})))`
  return {
    sql: `SELECT key, ${numberAsHem('hem_number')} AS hem
FROM audience_members
WHERE build_id = ${build} AND key > ${after}
  AND NOT ${isSuppressed('hem_number', suppressedPeople(plan.organizationId, plan.erased, bind))}${others}
ORDER BY key
LIMIT ${bind('UInt32', plan.limit)}`,
    params,
  }
}
