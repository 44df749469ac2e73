import { numberAsHem } from '../../schemas/fields.ts'
import { bindings } from '../events/query/bind.ts'
import { isSuppressed, suppressedPeople } from '../events/query/profiles/suppressedPeople.ts'
import { personOf } from '../identity/store/personSql.ts'
import type { Query } from '../platform/clickhouse/client.ts'

/** How a person's membership changed between two builds. */
export type Change = 'entered' | 'left'

/** The members of one build who are not in another; null: all. */
export interface ChangesPlan {
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
export function changedMembersQuery(plan: ChangesPlan): Query {
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
