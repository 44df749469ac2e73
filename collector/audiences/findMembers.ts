import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import type { BuildPart, KeySpan } from '../billing/buildPart.ts'
import { bindings } from '../events/query/bind.ts'
import { personOf } from '../identity/store/personSql.ts'
import { chunked } from '../platform/clickhouse/chunked.ts'
import type { Query } from '../platform/clickhouse/client.ts'

/** Finds in a build the people with certain keys in another build of the audience. */
export const findMembersOf =
  (reader: Pick<QueryExecutor, 'rows'>, buildId: string): BuildPart['findMembers'] =>
  (fromBuildId, keys) =>
    reader.rows<KeySpan>(sameMembersQuery(buildId, fromBuildId, keys))

/** SQL that identifies a member by any of a person's addresses in a build. */
const member = `${personOf('hem_number')}, company_domain`

function sameMembersQuery(buildId: string, fromBuildId: string, keys: readonly KeySpan[]): Query {
  const { bind, params } = bindings()
  const named = chunked(keys).map((some) => {
    const firsts = bind(
      'Array(Int64)',
      some.map(({ after }) => after + 1),
    )
    const ends = bind(
      'Array(Int64)',
      some.map(({ upTo }) => upTo + 1),
    )
    return `SELECT arrayJoin(range(first_key, end_key)) AS named FROM system.one ARRAY JOIN ${firsts} AS first_key, ${ends} AS end_key`
  })
  return {
    sql: `SELECT min(key) - 1 AS after, max(key) AS upTo
FROM (
SELECT key, key - row_number() OVER (ORDER BY key) AS island FROM audience_members
WHERE build_id = ${bind('UUID', buildId)} AND (${member}) IN (
  SELECT ${member} FROM audience_members
  WHERE build_id = ${bind('UUID', fromBuildId)} AND key IN (${named.join(' UNION ALL ')}))
)
GROUP BY island
ORDER BY after`,
    params,
  }
}
