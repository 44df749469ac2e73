import { isUuid } from '../../../schemas/uuid.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Lease } from '../../platform/postgres/lease.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'

export interface BuildDeps {
  readonly postgres: Postgres
  /** Holds the events of the audience's organization. */
  readonly clickhouse: ClickHouse
}

/**
 * Limits of one statement of a build. Groups and sorts beyond a quarter of the memory use files, and nothing
 * passes through this process.
 */
export const stepSettings = `SETTINGS max_memory_usage = ${1024 ** 3}, max_execution_time = 100,
  max_bytes_before_external_group_by = ${256 * 1024 ** 2}, max_bytes_before_external_sort = ${256 * 1024 ** 2}`

/**
 * Latest time for a statement under this lease to begin, in milliseconds of ClickHouse's clock. A process can
 * stall before it sends a statement. If another process has taken over the build since, the statement must
 * change nothing.
 */
export async function readDeadline(clickhouse: ClickHouse, lease: Lease): Promise<number> {
  // The clock is read before the lease is renewed, so the deadline is never later than the lease's end.
  const [clock] = await clickhouse.rows<{ now: number }>({
    sql: 'SELECT toUnixTimestamp64Milli(now64(3)) AS now',
  })
  return clock!.now + (await lease.renew())
}

/** Returns SQL for whether ClickHouse began the statement before this deadline, a bound parameter. */
export const beginsBefore = (deadline: string): string =>
  `toUnixTimestamp64Milli(now64(3)) < ${deadline}`

/**
 * Deletes the members that an earlier try of a build has stored. It first ends that try's statements on every
 * server; none can begin after its lease.
 */
export async function deleteEarlierTry(
  clickhouse: ClickHouse,
  lease: Lease,
  buildId: string,
): Promise<void> {
  await Promise.all(
    clickhouse.nodes.map((node) =>
      node.command({
        sql: "KILL QUERY WHERE Settings['log_comment'] = {buildId:String} SYNC FORMAT Null",
        params: { buildId },
      }),
    ),
  )
  const [stored] = await clickhouse.rows<{ members: number }>({
    sql: 'SELECT count() AS members FROM audience_members WHERE build_id = {buildId:UUID}',
    params: { buildId },
  })
  if (stored!.members === 0) return
  // Not DROP PARTITION, which takes no condition. The deletion does not affect parts that are inserted after
  // it began.
  await clickhouse.command({
    sql: `ALTER TABLE audience_members
          DELETE WHERE build_id = {buildId:UUID} AND ${beginsBefore('{deadline:Int64}')}
          SETTINGS mutations_sync = 1, mutations_execute_nondeterministic_on_initiator = 1,
            log_comment = {comment:String}`,
    params: { buildId, comment: buildId, deadline: await readDeadline(clickhouse, lease) },
  })
}

/** Drops all members of a build with its partition. */
export async function dropMembers(clickhouse: ClickHouse, buildId: string): Promise<void> {
  // A partition's name cannot be bound.
  if (!isUuid(buildId)) throw new Error(`${buildId} is no build`)
  await clickhouse.command({
    sql: `ALTER TABLE audience_members DROP PARTITION '${buildId}'`,
  })
}

export async function readStoredBuilds(clickhouse: ClickHouse): Promise<string[]> {
  const rows = await clickhouse.rows<{ partition: string }>({
    sql: `SELECT DISTINCT partition FROM system.parts
          WHERE database = currentDatabase() AND table = 'audience_members' AND active`,
  })
  return rows.map(({ partition }) => partition)
}

/** The members of a build were stored incompletely or twice: repeat the step. */
class MembersIncomplete extends Error {}

/** Counts a build's members. Throws MembersIncomplete unless their keys are 1, 2, 3 and so on. */
export async function countMembers(clickhouse: ClickHouse, buildId: string): Promise<number> {
  const [totals] = await clickhouse.rows<{ count: number; greatest: number; sum: string }>({
    sql: `SELECT count() AS count, max(key) AS greatest, toString(sum(toInt128(key))) AS sum
          FROM audience_members WHERE build_id = {buildId:UUID}`,
    params: { buildId },
  })
  const { count, greatest, sum } = totals!
  const isWhole = greatest === count && BigInt(sum) === (BigInt(count) * (BigInt(count) + 1n)) / 2n
  if (!isWhole)
    throw new MembersIncomplete(`build ${buildId} has ${count} members, up to key ${greatest}`)
  return count
}
