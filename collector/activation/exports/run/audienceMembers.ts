import { type Keys, memberIdsQuery, type ShownMembers } from '../../../audiences/files/rowsQuery.ts'
import { clickhouseOf, type EventStores } from '../../../events/query/eventStores.ts'
import { erasedHems } from '../../../events/query/suppressedPeople.ts'
import type { RunState } from './runState.ts'

/** A member of the build that is sent. */
export interface Member {
  readonly key: number
  /** The hem, or the domain. */
  readonly id: string
  /** Opted out or to be erased since the build: not to be sent. */
  readonly isHidden: boolean
  /** Charged by the run that is retried. */
  readonly isCharged: boolean
}

/** What of a member goes to the destination: its fields by their names. */
export type Values = Record<string, unknown>

/** The members whose turn it is. */
export interface Members {
  readonly members: readonly Member[]
  /** The greatest key of them; all records up to it have an outcome when the chunk is done. */
  readonly upTo: number
  /** Restricts the queries of their rows, with all keys of the chunk. */
  readonly shown: ShownMembers
}

/** Reads the next members of a run, at most `limit`; null when there are no more. */
export async function readMembers(
  stores: EventStores,
  runState: RunState,
  limit: number,
): Promise<Members | null> {
  const { organizationId, buildId, entity, retryOf, doneKey, buildCount } = runState
  const charged = retryOf === null ? null : await readFailed(stores, retryOf, doneKey, limit)
  if (charged ? charged.size === 0 : doneKey >= buildCount) return null
  const keys: Keys = charged
    ? [...charged.keys()]
    : { after: doneKey, upTo: Math.min(doneKey + limit, buildCount) }
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
  const expected = 'after' in keys ? keys.upTo - keys.after : keys.length
  if (rows.length !== expected) throw new MembersGone(buildId)
  const members = rows.map(({ key, id, is_hidden }) => ({
    key,
    id,
    isHidden: is_hidden !== 0,
    isCharged: charged?.get(key) ?? false,
  }))
  return { members, upTo: 'after' in keys ? keys.upTo : keys.at(-1)!, shown }
}

/** The members of a build were dropped, though they were to be kept for the run. */
export class MembersGone extends Error {
  constructor(buildId: string) {
    super(`build ${buildId} has lost members`)
  }
}

/** The next records of a run that failed: key → whether it was charged. */
async function readFailed(
  { postgres }: EventStores,
  runId: string,
  after: number,
  limit: number,
): Promise<Map<number, boolean>> {
  const { rows } = await postgres.query<{ key: number; is_charged: boolean }>(
    `SELECT key::float8 AS key, is_charged FROM export_outcomes
     WHERE run_id = $1 AND outcome = 'failed' AND key > $2 ORDER BY key LIMIT $3`,
    [runId, after, limit],
  )
  return new Map(rows.map(({ key, is_charged }) => [key, is_charged]))
}
