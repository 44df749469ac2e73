import { createHash } from 'node:crypto'
import { ApiError } from '../../../api/http/errors.ts'
import { findMembersOf } from '../../../audiences/findMembers.ts'
import type { Billing } from '../../../billing/billing.ts'
import { type BuildPart, spansOfKeys } from '../../../billing/buildPart.ts'
import type { Caller } from '../../../billing/charge.ts'
import { clickhouseOf } from '../../../events/query/eventStores.ts'
import type { Queryable } from '../../../platform/postgres/transaction.ts'
import type { SendDeps } from '../exportsDeps.ts'
import type { RunState } from './runState.ts'

/** A budget, a limit or a pause of usage refuses the charge. `message` is for the customer. */
export class Refused extends Error {}

/**
 * Charges records of a build before they are sent, like pages of it: a person is charged once on a UTC day.
 * A retry on a later day charges its records again, because the destination may have kept what it refused. The same chunk
 * is charged once, even if it is sent repeatedly. Returns the charged records. Throws Refused.
 */
export async function chargeChunk(
  { billing, clickhouse }: Pick<SendDeps, 'billing' | 'clickhouse'>,
  runState: RunState,
  keys: readonly number[],
): Promise<number> {
  if (keys.length === 0) return 0
  const { organizationId, projectId, buildId, meter, requestedBy, isProjectKey } = runState
  const caller: Caller = {
    requestId: chargeId(runState.runId, runState.doneKey),
    forRequest: runState.requestId,
    organizationId,
    projectId: isProjectKey ? projectId : null,
    callerId: requestedBy,
    mode: 'live',
    repeatOf: null,
  }
  const build: BuildPart = {
    buildId,
    keys: spansOfKeys(keys),
    findMembers: findMembersOf(clickhouseOf({ clickhouse }, organizationId), buildId),
  }
  try {
    const usage = { meter, projectId, recordsMax: keys.length, build }
    const charge = await billing.admit(caller, usage)
    return await charge.settle(keys.length, { keys })
  } catch (error) {
    const isRefusal = error instanceof ApiError && (error.status === 402 || error.status === 429)
    throw isRefusal ? new Refused(error.message) : error
  }
}

/** The charge of the chunk that was in progress when a run stopped. */
export interface Unfinished {
  readonly charged: number
  readonly keys: ReadonlySet<number>
}

const nothing: Unfinished = { charged: 0, keys: new Set() }

/**
 * Settles the charge of the chunk that was in progress when a run stopped, given its keys. The charge stays if the chunk
 * may have reached the destination. Otherwise it is refunded.
 */
export async function settleUnfinished(
  { billing, postgres }: { billing: Billing; postgres: Queryable },
  { runId, organizationId, doneKey, isChunkSent }: RunState,
  keys: readonly number[],
): Promise<Unfinished> {
  const requestId = chargeId(runId, doneKey)
  const { rows } = await postgres.query<{ keys: string[]; charged: number }>(
    `SELECT ARRAY(SELECT key FROM unnest($2::bigint[]) AS key WHERE build_reads.keys @> key) AS keys,
       coalesce((SELECT records FROM ledger WHERE request_id = $1 AND kind = 'charge'), 0)::float8 AS charged
     FROM build_reads WHERE request_id = $1 AND NOT is_broken`,
    [requestId, keys],
  )
  if (!rows[0]) return nothing
  const chargedKeys = rows[0].keys.map(Number)
  if (isChunkSent) return { charged: rows[0].charged, keys: new Set(chargedKeys) }
  await billing.refundBuildRead({ requestId, organizationId, keys: chargedKeys })
  return nothing
}

/** Returns the UUID that identifies the charge of a chunk in every try (RFC 9562, version 8). */
function chargeId(runId: string, after: number): string {
  const bytes = createHash('sha256').update(`export ${runId} ${after}`).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-')
}
