import { createHash } from 'node:crypto'
import { wakeQueue } from '../../../platform/jobs/queue.ts'
import { emit } from '../../../platform/outbox/outbox.ts'
import type { Postgres } from '../../../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../../../platform/postgres/transaction.ts'
import type { FailureClass } from '../../integrations/destinations/destination.ts'
import { destinationTypes } from '../../integrations/destinations/index.ts'
import { exportRuns, readRunEnd, unfinished } from '../exportRuns.ts'
import type { RunState } from './runState.ts'

export interface Result {
  readonly key: number
  readonly id: string
  readonly outcome: 'exported' | 'failed' | 'duplicated'
  readonly reason?: string
  readonly failureClass?: FailureClass
  readonly isCharged: boolean
  /** The value by which the destination recognizes an exported record. */
  readonly identity?: string | null
  readonly remoteId?: string | undefined
}

/** A chunk whose members all have an outcome. */
export interface DoneChunk {
  /** The key of its last member. */
  readonly upTo: number
  readonly charged: number
  readonly results: readonly Result[]
}

/**
 * Stores the outcomes of a chunk in one statement: counters, records that were not exported, sent identities,
 * and recipients to remove after an opt-out. Returns the run after the chunk. Returns undefined, and changes
 * nothing, if the run has ended or another process has stored the chunk.
 */
export async function completeChunk(
  client: Queryable,
  runState: RunState,
  { upTo, charged, results }: DoneChunk,
): Promise<RunState | undefined> {
  const exported = results.filter(({ outcome }) => outcome === 'exported')
  const others = results.filter(({ outcome }) => outcome !== 'exported')
  const failed = others.filter(({ outcome }) => outcome === 'failed').length
  const isRemovable =
    runState.entity === 'people' && destinationTypes[runState.integration.type].removes
  const recipients = isRemovable ? exported : []
  const { rows } = await client.query<{ stop_reason: string | null; stop_class: FailureClass }>({
    name: 'complete_export_chunk',
    text: completion,
    values: [
      // $1, $2: the run, and its expected current key.
      runState.runId,
      runState.doneKey,
      // $3 to $7: the key after the chunk, and the increments of the counters.
      upTo,
      exported.length,
      failed,
      others.length - failed,
      charged,
      // $8 to $13: columns of the records that were not exported.
      others.map(({ key }) => key),
      others.map(({ outcome }) => outcome),
      others.map(({ id }) => id),
      others.map(({ reason }) => reason),
      others.map(({ failureClass }) => failureClass ?? null),
      others.map(({ isCharged }) => isCharged),
      // $14: the sent identities.
      exported.flatMap(({ identity }) => (identity ? [hashOf(identity)] : [])),
      // $15 to $17: the integration, and columns of its recipients.
      runState.integration.id,
      recipients.map(({ id }) => id),
      recipients.map(({ remoteId }) => remoteId ?? null),
    ],
  })
  if (!rows[0]) return undefined
  const { stop_reason: reason, stop_class: failureClass } = rows[0]
  return {
    ...runState,
    doneKey: upTo,
    recordsExported: runState.recordsExported + exported.length,
    recordsCharged: runState.recordsCharged + charged,
    isStarted: true,
    isBuildKept: true,
    attempts: 0,
    chunkState: null,
    isChunkSent: false,
    stop: reason === null ? null : { reason, failureClass },
  }
}

/**
 * Only if `done` has a row do the other parts insert any; $1 to $17 are listed in completeChunk. Known recipients stay
 * as they are for a day, because writing all of them again was the largest cost of a repeated run.
 */
const completion = `WITH done AS (
  UPDATE export_runs SET status = 'running', done_key = $3, records_exported = records_exported + $4,
    records_failed = records_failed + $5, records_duplicated = records_duplicated + $6,
    records_charged = records_charged + $7,
    numbers_from = CASE WHEN $7 > 0 THEN least(numbers_from, now()) ELSE numbers_from END, attempts = 0, chunk_state = NULL, chunk_sent = false, resumes_at = NULL,
    updated_at = now()
  WHERE run_id = $1 AND done_key = $2 AND status IN ${unfinished}
  RETURNING run_id, stop_reason, stop_class
), outcomes AS (
  INSERT INTO export_outcomes (run_id, key, outcome, record, reason, class, is_charged)
  SELECT run_id, other.* FROM done,
    unnest($8::bigint[], $9::text[], $10::text[], $11::text[], $12::text[], $13::boolean[]) AS other
), identities AS (
  INSERT INTO export_identities (run_id, identity) SELECT run_id, identity FROM done, unnest($14::bytea[]) AS identity
  ON CONFLICT DO NOTHING
), recipients AS (
  INSERT INTO export_recipients AS known (integration_id, hem, remote_id)
  SELECT $15, decode(hem, 'hex'), remote_id FROM done, unnest($16::text[], $17::text[]) AS sent (hem, remote_id)
  ON CONFLICT (integration_id, hem) DO UPDATE
    SET sent_at = now(), attempts = 0, remove_after = now(), remote_id = coalesce(excluded.remote_id, known.remote_id)
    WHERE known.attempts > 0 OR known.remove_after > now() OR known.sent_at < now() - interval '1 day'
      OR known.remote_id IS DISTINCT FROM coalesce(excluded.remote_id, known.remote_id)
)
SELECT stop_reason, stop_class FROM done`

export async function readSent(
  client: Queryable,
  { runId }: RunState,
  identities: readonly string[],
): Promise<Set<string>> {
  if (identities.length === 0) return new Set()
  const byHash = new Map(identities.map((identity) => [hashOf(identity).toString('hex'), identity]))
  const { rows } = await client.query<{ identity: string }>(
    `SELECT encode(identity, 'hex') AS identity FROM export_identities
     WHERE run_id = $1 AND identity = ANY($2::bytea[])`,
    [runId, [...byHash.keys()].map((hex) => Buffer.from(hex, 'hex'))],
  )
  return new Set(rows.map(({ identity }) => byHash.get(identity)!))
}

/** Only a hash is stored, so that no identity can be read back. */
const hashOf = (identity: string): Buffer =>
  createHash('sha256').update(identity).digest().subarray(0, 16)

export async function beginRun(client: Queryable, { runId }: RunState): Promise<void> {
  await client.query(
    `UPDATE export_runs SET status = 'running', started_at = coalesce(started_at, now()), updated_at = now()
     WHERE run_id = $1 AND status IN ${unfinished}`,
    [runId],
  )
}

/** Stores the state from which a destination can continue the current chunk. */
export async function saveChunkState(
  client: Queryable,
  runState: RunState,
  state: unknown,
): Promise<void> {
  await client.query(
    'UPDATE export_runs SET chunk_state = $3, updated_at = now() WHERE run_id = $1 AND done_key = $2',
    [runState.runId, runState.doneKey, JSON.stringify(state)],
  )
}

/** Records, before the next chunk is sent, that it may have arrived; or later, that it has not. */
export async function noteSent(
  client: Queryable,
  { runId, doneKey }: RunState,
  isSent: boolean,
): Promise<void> {
  await client.query({
    name: 'note_chunk_sent',
    text: 'UPDATE export_runs SET chunk_sent = $3 WHERE run_id = $1 AND done_key = $2',
    values: [runId, doneKey, isSent],
  })
}

/** Pauses a run, which then continues with the same chunk. `isFailure` counts as a failed try. */
export async function parkRun(
  client: Queryable,
  { runId, doneKey }: RunState,
  { seconds, isFailure, reason }: { seconds: number; isFailure: boolean; reason: string },
): Promise<void> {
  await client.query(
    `UPDATE export_runs SET status = 'parked', resumes_at = now() + make_interval(secs => $3),
       attempts = attempts + $4, park_reason = $5, updated_at = now()
     WHERE run_id = $1 AND done_key = $2 AND status IN ${unfinished} AND stop_reason IS NULL`,
    [runId, doneKey, seconds, isFailure ? 1 : 0, reason],
  )
}

/** Stops a run from sending: its remaining records fail for this reason. */
export async function stopRun(
  client: Queryable,
  { runId }: RunState,
  reason: string,
  failureClass: FailureClass,
): Promise<void> {
  await client.query(
    `UPDATE export_runs SET stop_reason = $2, stop_class = $3, resumes_at = NULL, updated_at = now()
     WHERE run_id = $1 AND status IN ${unfinished} AND stop_reason IS NULL`,
    [runId, reason, failureClass],
  )
}

/** Ends a run whose records all have an outcome, and emits `export.run_ended`. */
export async function endRun(postgres: Postgres, runState: RunState): Promise<void> {
  const { runId, exportId, exportName, organizationId, projectId } = runState
  await inTransaction(postgres, async (client) => {
    const { rowCount } = await client.query(
      `UPDATE export_runs SET status = CASE WHEN stop_reason IS NULL THEN 'completed' ELSE 'failed' END,
         started_at = coalesce(started_at, now()), ended_at = now(), resumes_at = NULL, chunk_state = NULL,
         updated_at = now()
       WHERE run_id = $1 AND status IN ${unfinished}`,
      [runId],
    )
    if (rowCount === 0) return
    await client.query('DELETE FROM export_identities WHERE run_id = $1', [runId])
    // Other runs of the organization may have waited for this one.
    await wakeQueue(client, exportRuns)
    await emit(client, {
      organizationId,
      projectId,
      type: 'export.run_ended',
      data: {
        export_id: exportId,
        export_name: exportName,
        run_id: runId,
        ...(await readRunEnd(client, runId)),
      },
    })
  })
}
