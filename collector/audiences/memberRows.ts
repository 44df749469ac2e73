import { numberAsHem } from '../../schemas/fields.ts'
import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import { bindings } from '../events/query/bind.ts'
import {
  erasedHems,
  isSuppressed,
  suppressedPeople,
} from '../events/query/profiles/suppressedPeople.ts'
import { personFields, readPeople } from '../identity/store/people.ts'
import type { Query } from '../platform/clickhouse/client.ts'
import type { Postgres } from '../platform/postgres/pool.ts'

/** A member of a build: the key that says the place in it, and the person's hem. */
export interface Member {
  readonly key: number
  readonly hem: string
}

/** At most `limit` members of a build whose keys are above `after`, in their order. */
interface MembersRange {
  readonly organizationId: string
  readonly buildId: string
  readonly after: number
  readonly limit: number
}

/** Reads members of a page, without people who opted out or are to be erased. */
export async function readMembers(
  { queryExecutor, postgres }: { queryExecutor: QueryExecutor; postgres: Postgres },
  range: MembersRange,
): Promise<Member[]> {
  return queryExecutor.rows<Member>(
    membersQuery(range, await erasedHems(postgres, range.organizationId)),
  )
}

function membersQuery(
  { organizationId, buildId, after, limit }: MembersRange,
  erased: readonly string[],
): Query {
  const { bind, params } = bindings()
  return {
    sql: `SELECT key, ${numberAsHem('hem_number')} AS hem
FROM audience_members
WHERE build_id = ${bind('UUID', buildId)}
  AND NOT ${isSuppressed('hem_number', suppressedPeople(organizationId, erased, bind))} AND key > ${bind('Int64', after)}
ORDER BY key
LIMIT ${bind('UInt32', limit)}`,
    params,
  }
}

/** The members' rows as JSON objects, in order: the hem and the fields of a profile, null without one. */
export async function readRows(
  queryExecutor: QueryExecutor,
  organizationId: string,
  members: readonly Member[],
): Promise<Buffer[]> {
  const hems = members.map(({ hem }) => hem)
  const people = await readPeople(queryExecutor, organizationId, hems, null)
  return hems.map((hem) => people.get(hem) ?? Buffer.from(`{"hem":"${hem}"${unknown}}`))
}

const unknown = personFields
  .filter(({ name }) => name !== 'hem')
  .map(({ name }) => `,"${name}":null`)
  .join('')
