import type { FastifyReply } from 'fastify'
import type { Principal } from '../api/access/principal.ts'
import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import { untilClosed } from '../api/http/streaming.ts'
import { bindings } from '../events/query/bind.ts'
import { erasedHems, suppressedNumbers } from '../events/query/profiles/suppressedPeople.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import type { Audience, StoredAudience } from './audiences.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'

/** Members of a build who may be shown now, and how many of them have each strength of interest. */
interface ShownNumbers {
  readonly count: number
  readonly low: number
  readonly medium: number
  readonly high: number
}

const none: ShownNumbers = { count: 0, low: 0, medium: 0, high: 0 }

/**
 * Counts members of builds in one statement, as pages show them: without people who opted out or were erased since. Has
 * an entry for each build.
 */
export async function readShownNumbers(
  { queryExecutor, postgres }: { queryExecutor: QueryExecutor; postgres: Postgres },
  organizationId: string,
  buildIds: readonly string[],
): Promise<ReadonlyMap<string, ShownNumbers>> {
  if (buildIds.length === 0) return new Map()
  const rows = await queryExecutor.rows<ShownNumbers & { build_id: string }>(
    shownNumbersQuery({
      organizationId,
      buildIds,
      erased: await erasedHems(postgres, organizationId),
    }),
  )
  const found = new Map(rows.map(({ build_id, ...numbers }) => [build_id, numbers]))
  return new Map(buildIds.map((id) => [id, found.get(id) ?? none]))
}

/** Returns the query of readShownNumbers. It returns no row for a build without visible members. */
export function shownNumbersQuery({
  organizationId,
  buildIds,
  erased,
}: {
  organizationId: string
  buildIds: readonly string[]
  erased: readonly string[]
}): Query {
  const { bind, params } = bindings()
  return {
    sql: `SELECT build_id, count() AS count, countIf(bucket = 1) AS low, countIf(bucket = 2) AS medium, countIf(bucket = 3) AS high
FROM audience_members
WHERE build_id IN ${bind('Array(UUID)', buildIds)} AND hem_number NOT IN (${suppressedNumbers(organizationId, erased, bind)})
GROUP BY build_id`,
    params,
  }
}

/** Reads the numbers of the served builds of audiences. Returns a function that adds them to one of these audiences. */
export async function readNumbersOf(
  { postgres, openQueryExecutor }: Pick<AudiencesDeps, 'postgres' | 'openQueryExecutor'>,
  principal: Principal,
  reply: FastifyReply,
  audiences: readonly StoredAudience[],
): Promise<(audience: StoredAudience) => Audience> {
  const queryExecutor = openQueryExecutor(principal, {
    effort: 'page',
    signal: untilClosed(reply),
  })
  const builds = audiences.flatMap(({ build_id, showsNumbers }) =>
    build_id !== null && showsNumbers ? [build_id] : [],
  )
  const stores = { queryExecutor, postgres }
  const numbers = await readShownNumbers(stores, principal.organizationId, builds)
  return (audience) => withNumbers(audience, numbers.get(audience.build_id ?? ''))
}

/** An audience with the numbers of its build; null if they are not shown. */
export function withNumbers(
  { showsNumbers: _, ...audience }: StoredAudience,
  numbers?: ShownNumbers,
): Audience {
  // Before the first build, nobody is in a bucket.
  const unknown = audience.build_id === null ? 0 : null
  const { low, medium, high } = numbers ?? { low: unknown, medium: unknown, high: unknown }
  return { ...audience, bucket_counts: { low, medium, high }, count: numbers?.count ?? null }
}
