import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { Lease } from '../../platform/postgres/lease.ts'

/**
 * Latest time for a statement under this lease to begin, in milliseconds of ClickHouse's clock. A process can
 * stall before it sends a statement. If another process has taken over the build since, the statement must
 * change nothing.
 */
export async function readDeadline(clickhouse: ClickHouse, lease: Lease): Promise<number> {
  // The clock is read before the lease is renewed, so the deadline is never later than the lease's end.
  const [clock] = await clickhouse.rows<{ now: number }>({
    sql: 'SELECT toUnixTimestamp64Milli(now64(3)) AS now',
    params: {},
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
