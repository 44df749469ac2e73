import { isUuid } from '../../../schemas/uuid.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'

/** Drops all members of a build with its partition. */
export async function dropMembers(clickhouse: ClickHouse, buildId: string): Promise<void> {
  // A partition's name cannot be bound.
  if (!isUuid(buildId)) throw new Error(`${buildId} is no build`)
  await clickhouse.command({
    sql: `ALTER TABLE audience_members DROP PARTITION '${buildId}'`,
    params: {},
  })
}

/** Returns the builds that have members. */
export async function readStoredBuilds(clickhouse: ClickHouse): Promise<string[]> {
  const rows = await clickhouse.rows<{ partition: string }>({
    sql: `SELECT DISTINCT partition FROM system.parts
          WHERE database = currentDatabase() AND table = 'audience_members' AND active`,
    params: {},
  })
  return rows.map(({ partition }) => partition)
}

/** The members of a build were stored incompletely or twice: repeat the step. */
class MembersIncomplete extends Error {}

/**
 * Returns the number of a build's members. Throws MembersIncomplete unless their keys are 1, 2, 3 and so on.
 */
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
