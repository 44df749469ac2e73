import { type Keys, memberIdsQuery, type ShownMembers } from '../../../audiences/files/rowsQuery.ts'
import { clickhouseOf, type EventStores } from '../../../events/query/eventStores.ts'
import { erasedHems } from '../../../events/query/profiles/suppressedPeople.ts'
import type { RunState } from './runState.ts'

export interface Member {
  readonly key: number
  /** The hem, or the company's domain. */
  readonly id: string
  /** Opted out or being erased since the build, so the member must not be sent. */
  readonly isHidden: boolean
}

/** The fields of a member for the destination, by name. */
export type Values = Record<string, unknown>

/** The next members of a run. */
export interface Members {
  readonly members: readonly Member[]
  /** The greatest key among them; all records up to it have an outcome after the chunk. */
  readonly upTo: number
  /** Restricts queries for their rows to the keys of the chunk. */
  readonly shown: ShownMembers
}

/** Reads the next members of a run, at most `limit`, without erased ones; null if there are no more. */
export async function readMembers(
  stores: EventStores,
  runState: RunState,
  limit: number,
): Promise<Members | null> {
  const { organizationId, buildId, entity, retryOf, doneKey, buildCount } = runState
  const failed = retryOf === null ? null : await readFailed(stores, retryOf, doneKey, limit)
  if (failed ? failed.length === 0 : doneKey >= buildCount) return null
  const keys: Keys = failed ?? { after: doneKey, upTo: Math.min(doneKey + limit, buildCount) }
  const shown: ShownMembers = {
    organizationId,
    buildId,
    entity,
    keys,
    erased: await erasedHems(stores.postgres, organizationId),
  }
  const rows = await clickhouseOf(stores, organizationId).rows<{
    key: number
    id: string
    is_hidden: number
  }>(memberIdsQuery(shown))
  const members = rows.map(({ key, id, is_hidden }) => ({
    key,
    id,
    isHidden: is_hidden !== 0,
  }))
  return { members, upTo: 'after' in keys ? keys.upTo : keys.at(-1)!, shown }
}

async function readFailed(
  { postgres }: EventStores,
  runId: string,
  after: number,
  limit: number,
): Promise<number[]> {
  const { rows } = await postgres.query<{ key: number }>(
    `SELECT key::float8 AS key FROM export_outcomes
     WHERE run_id = $1 AND outcome = 'failed' AND key > $2 ORDER BY key LIMIT $3`,
    [runId, after, limit],
  )
  return rows.map(({ key }) => key)
}
