import { createHash } from 'node:crypto'
import type { FailureClass } from '../../integrations/destinations/destination.ts'
import { destinationTypes } from '../../integrations/destinations/index.ts'
import { emit } from '../../outbox/outbox.ts'
import { wakeQueue } from '../../platform/jobs/queue.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../../platform/postgres/transaction.ts'
import { counters, exportRuns, unfinished } from '../runs.ts'
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
 * Keeps what became of a chunk, in one transaction: the counters, every record that was not exported, and who is to be
 * removed when they opt out. False where another process was first, or the run is no more: then nothing is counted twice.
 */
export async function completeChunk(
  postgres: Postgres,
  task: Task,
  { upTo, charged, results }: DoneChunk,
): Promise<boolean> {
  const count = (outcome: Result['outcome']) => results.filter((result) => result.outcome === outcome).length
  return inTransaction(postgres, async (client) => {
    const { rowCount } = await client.query(
      `UPDATE export_runs SET status = 'running', done_key = $3, records_exported = records_exported + $4,
         records_failed = records_failed + $5, records_duplicated = records_duplicated + $6,
         records_charged = records_charged + $7, attempts = 0, chunk_state = NULL, chunk_sent = false, resumes_at = NULL,
         updated_at = now()
       WHERE run_id = $1 AND done_key = $2 AND status IN ${unfinished}`,
      [
        ...[task.runId, task.doneKey, upTo],
        ...[count('exported'), count('failed'), count('duplicated'), charged],
      ],
    )
    if (rowCount === 0) return false
    await insertOutcomes(
      client,
      task,
      results.filter(({ outcome }) => outcome !== 'exported'),
    )
    const exported = results.filter(({ outcome }) => outcome === 'exported')
    await insertIdentities(client, task, exported)
    if (task.entity === 'people' && destinationTypes[task.integration.type].removes) {
      await insertRecipients(client, task, exported)
    }
    return true
  })
}

async function insertOutcomes(client: Queryable, { runId }: Task, results: readonly Result[]): Promise<void> {
  if (results.length === 0) return
  await client.query(
    `INSERT INTO export_outcomes (run_id, key, outcome, record, reason, class, is_charged)
     SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[])`,
    [
      runId,
      results.map(({ key }) => key),
      results.map(({ outcome }) => outcome),
      results.map(({ id }) => id),
      results.map(({ reason }) => reason),
      results.map(({ failureClass }) => failureClass ?? null),
      results.map(({ isCharged }) => isCharged),
    ],
  )
}

async function insertIdentities(
  client: Queryable,
  { runId }: Task,
  results: readonly Result[],
): Promise<void> {
  const identities = results.flatMap(({ identity }) => (identity ? [hashOf(identity)] : []))
  if (identities.length === 0) return
  await client.query(
    'INSERT INTO export_identities (run_id, identity) SELECT $1, unnest($2::bytea[]) ON CONFLICT DO NOTHING',
    [runId, identities],
  )
}

async function insertRecipients(
  client: Queryable,
  { integration }: Task,
  results: readonly Result[],
): Promise<void> {
  if (results.length === 0) return
  await client.query(
    `INSERT INTO export_recipients AS known (integration_id, hem, remote_id)
     SELECT $1, decode(hem, 'hex'), remote_id FROM unnest($2::text[], $3::text[]) AS sent (hem, remote_id)
     ON CONFLICT (integration_id, hem) DO UPDATE
       SET sent_at = now(), attempts = 0, remove_after = now(),
         remote_id = coalesce(excluded.remote_id, known.remote_id)`,
    [integration.id, results.map(({ id }) => id), results.map(({ remoteId }) => remoteId ?? null)],
  )
}

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
const hashOf = (identity: string): Buffer => createHash('sha256').update(identity).digest().subarray(0, 16)

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

/** Notes that the chunk that is being sent may have reached its destination, though it did not say that it took it. */
export async function noteSent(client: Queryable, { runId, doneKey }: Task): Promise<void> {
  await client.query('UPDATE export_runs SET chunk_sent = true WHERE run_id = $1 AND done_key = $2', [
    ...[runId, doneKey],
  ])
}

/** Has a run wait: it goes on with the same chunk. `isFailure` counts as a try that failed. */
export async function parkRun(
  client: Queryable,
  { runId, doneKey }: Task,
  { seconds, isFailure }: { seconds: number; isFailure: boolean },
): Promise<void> {
  await client.query(
    `UPDATE export_runs SET status = 'parked', resumes_at = now() + make_interval(secs => $3),
       attempts = attempts + $4, updated_at = now()
     WHERE run_id = $1 AND done_key = $2 AND status IN ${unfinished} AND stop_reason IS NULL`,
    [runId, doneKey, seconds, isFailure ? 1 : 0],
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
      ...{ organizationId, projectId, type: 'export.run_ended' },
      data: { export_id: exportId, export_name: exportName, run_id: runId, ...rows[0] },
    })
  })
}
