import { createHash } from 'node:crypto'
import { wakeQueue } from '../../../platform/jobs/queue.ts'
import { emit } from '../../../platform/outbox/outbox.ts'
import type { Postgres } from '../../../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../../../platform/postgres/transaction.ts'
import type { FailureClass } from '../../integrations/destinations/destination.ts'
import { destinationTypes } from '../../integrations/destinations/index.ts'
import { counters, exportRuns, unfinished } from '../exportRuns.ts'
import type { Task } from './task.ts'

/** What became of one member of a chunk. */
export interface Result {
  readonly key: number
  readonly id: string
  readonly outcome: 'exported' | 'failed' | 'duplicated'
  /** Of those that were not exported. */
  readonly reason?: string
  readonly failureClass?: FailureClass
  readonly isCharged: boolean
  /** By what the destination tells it apart, of those exported. */
  readonly identity?: string | null
  readonly remoteId?: string | undefined
}

/** A chunk all of whose members have an outcome. */
export interface DoneChunk {
  readonly upTo: number
  readonly charged: number
  readonly results: readonly Result[]
}

/**
 * Keeps what became of a chunk, in one statement: the counters, every record that was not exported, and who is to be
 * removed when they opt out. The run as it stands then; undefined where another process was first, or the run is no more:
 * then nothing is counted twice.
 */
export async function completeChunk(
  client: Queryable,
  task: Task,
  { upTo, charged, results }: DoneChunk,
): Promise<Task | undefined> {
  const exported = results.filter(({ outcome }) => outcome === 'exported')
  const others = results.filter(({ outcome }) => outcome !== 'exported')
  const failed = others.filter(({ outcome }) => outcome === 'failed').length
  const isRemovable = task.entity === 'people' && destinationTypes[task.integration.type].removes
  const recipients = isRemovable ? exported : []
  const { rows } = await client.query<{ stop_reason: string | null; stop_class: FailureClass }>({
    name: 'complete_export_chunk',
    text: completion,
    values: [
      task.runId,
      task.doneKey,
      upTo,
      exported.length,
      failed,
      others.length - failed,
      charged,
      others.map(({ key }) => key),
      others.map(({ outcome }) => outcome),
      others.map(({ id }) => id),
      others.map(({ reason }) => reason),
      others.map(({ failureClass }) => failureClass ?? null),
      others.map(({ isCharged }) => isCharged),
      exported.flatMap(({ identity }) => (identity ? [hashOf(identity)] : [])),
      task.integration.id,
      recipients.map(({ id }) => id),
      recipients.map(({ remoteId }) => remoteId ?? null),
    ],
  })
  if (!rows[0]) return undefined
  const { stop_reason: reason, stop_class: failureClass } = rows[0]
  return {
    ...task,
    doneKey: upTo,
    recordsExported: task.recordsExported + exported.length,
    isStarted: true,
    isBuildKept: true,
    attempts: 0,
    chunkState: null,
    isChunkSent: false,
    stop: reason === null ? null : { reason, failureClass },
  }
}

const completion = `WITH done AS (
  UPDATE export_runs SET status = 'running', done_key = $3, records_exported = records_exported + $4,
    records_failed = records_failed + $5, records_duplicated = records_duplicated + $6,
    records_charged = records_charged + $7, attempts = 0, chunk_state = NULL, chunk_sent = false, resumes_at = NULL,
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
)
SELECT stop_reason, stop_class FROM done`

/** Which of these identities a run has sent already. */
export async function readSent(
  client: Queryable,
  { runId }: Task,
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

/** Nothing of a person is kept for telling records apart. */
const hashOf = (identity: string): Buffer =>
  createHash('sha256').update(identity).digest().subarray(0, 16)

/** Marks a run as begun. */
export async function beginRun(client: Queryable, { runId, recordsExpected }: Task): Promise<void> {
  await client.query(
    `UPDATE export_runs SET status = 'running', started_at = coalesce(started_at, now()), records_expected = $2,
       updated_at = now()
     WHERE run_id = $1 AND status IN ${unfinished}`,
    [runId, recordsExpected],
  )
}

/** Keeps what a destination has to know to go on with the chunk that is being sent. */
export async function saveChunkState(client: Queryable, task: Task, state: unknown): Promise<void> {
  await client.query(
    'UPDATE export_runs SET chunk_state = $3, updated_at = now() WHERE run_id = $1 AND done_key = $2',
    [task.runId, task.doneKey, JSON.stringify(state)],
  )
}

/** Notes, before it leaves, that the next chunk may have reached its destination; or that it has not. */
export async function noteSent(
  client: Queryable,
  { runId, doneKey }: Task,
  isSent: boolean,
): Promise<void> {
  await client.query({
    name: 'note_chunk_sent',
    text: 'UPDATE export_runs SET chunk_sent = $3 WHERE run_id = $1 AND done_key = $2',
    values: [runId, doneKey, isSent],
  })
}

/** Has a run wait for that reason: it goes on with the same chunk. `isFailure` counts as a try that failed. */
export async function parkRun(
  client: Queryable,
  { runId, doneKey }: Task,
  { seconds, isFailure, reason }: { seconds: number; isFailure: boolean; reason: string },
): Promise<void> {
  await client.query(
    `UPDATE export_runs SET status = 'parked', resumes_at = now() + make_interval(secs => $3),
       attempts = attempts + $4, park_reason = $5, updated_at = now()
     WHERE run_id = $1 AND done_key = $2 AND status IN ${unfinished} AND stop_reason IS NULL`,
    [runId, doneKey, seconds, isFailure ? 1 : 0, reason],
  )
}

/** Has a run send nothing more: the records that are left fail for this reason. */
export async function stopRun(
  client: Queryable,
  { runId }: Task,
  reason: string,
  failureClass: FailureClass,
): Promise<void> {
  await client.query(
    `UPDATE export_runs SET stop_reason = $2, stop_class = $3, resumes_at = NULL, updated_at = now()
     WHERE run_id = $1 AND status IN ${unfinished} AND stop_reason IS NULL`,
    [runId, reason, failureClass],
  )
}

/** Ends a run all of whose records have an outcome, and tells who wants to know. */
export async function endRun(postgres: Postgres, task: Task): Promise<void> {
  const { runId, exportId, exportName, organizationId, projectId } = task
  await inTransaction(postgres, async (client) => {
    const { rows } = await client.query<Record<string, unknown>>(
      `UPDATE export_runs SET status = CASE WHEN stop_reason IS NULL THEN 'completed' ELSE 'failed' END,
         started_at = coalesce(started_at, now()), ended_at = now(), resumes_at = NULL, chunk_state = NULL,
         updated_at = now()
       WHERE run_id = $1 AND status IN ${unfinished}
       RETURNING status, ${counters}, stop_reason AS error`,
      [runId],
    )
    if (!rows[0]) return
    await client.query('DELETE FROM export_identities WHERE run_id = $1', [runId])
    // Others of the organization may have waited for it to end.
    await wakeQueue(client, exportRuns)
    await emit(client, {
      organizationId,
      projectId,
      type: 'export.run_ended',
      data: { export_id: exportId, export_name: exportName, run_id: runId, ...rows[0] },
    })
  })
}
