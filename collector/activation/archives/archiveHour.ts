import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { RowsDiffer, saveStream } from '../../audiences/files/saveStream.ts'
import type { Billing } from '../../billing/billing.ts'
import { chargeJob, digestId, type RefusalCode } from '../../billing/jobCharges.ts'
import { clickhouseOf, type EventStores } from '../../events/query/eventStores.ts'
import { dateAt, hourMs } from '../../platform/days.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import { type Destination, DestinationError } from '../integrations/destinations/destination.ts'
import { readIntegration } from '../integrations/integrations.ts'
import type { OpenDeps } from '../integrations/integrationsDeps.ts'
import { openDestination } from '../integrations/openDestination.ts'
import { fileQuery, hoursQuery, type Turn } from './hourQuery.ts'
import { fileName, storeManifest } from './manifest.ts'

export interface ArchiveDeps extends OpenDeps, EventStores {
  readonly billing: Billing
  /** The directory for a file until it is sent. */
  readonly temporaryDirectory: string
}

export interface DueArchive {
  readonly archive_id: string
  readonly organization_id: string
  readonly project_id: string
  readonly integration_id: string
  readonly start_ms: number
  readonly next_ms: number
  readonly daily_records_max: number
  readonly paused_by: string | null
}

interface PlannedFile {
  readonly file_id: string
  readonly hour_ms: number
  readonly part: number
  readonly rows: number
}

export interface Pause {
  readonly by: RefusalCode | 'destination' | 'daily_records_max'
  readonly reason: string
}

const refusalReasons: Record<RefusalCode, string> = {
  budget_exceeded: 'The budget does not cover the events of the next hour.',
  platform_cap_exceeded: 'A usage limit does not cover the events of the next hour.',
}

const settings = {
  max_memory_usage: 1024 ** 3,
  max_bytes_before_external_sort: 256 * 1024 ** 2,
  max_execution_time: 600,
}

/**
 * Archives the next hour: charges its events, uploads a file for each hour that has events, writes the manifests, and
 * moves on. After a crash all of it is repeated with the same charges, names and contents. Returns why the hour waits;
 * null if it is archived.
 */
export async function archiveHour(
  deps: ArchiveDeps,
  archive: DueArchive,
  signal: AbortSignal,
): Promise<Pause | null> {
  const { organization_id: organizationId, project_id: projectId } = archive
  const turn: Turn = {
    organizationId,
    projectId,
    startMs: archive.start_ms,
    runMs: archive.next_ms,
  }
  try {
    const scope = { organizationId, projectIds: [projectId] }
    const integration = await readIntegration(deps.postgres, scope, archive.integration_id)
    const destination = openDestination(deps, integration)
    const files = await planFiles(deps, archive, turn)
    const pause = await findDailyPause(deps, archive, files)
    if (pause) return pause
    const refusal = await charge(deps, archive, files)
    if (refusal !== null) return { by: refusal, reason: refusalReasons[refusal] }
    for (const file of files) {
      signal.throwIfAborted()
      // A deleted archive has no files any more, and would overwrite the manifest with an empty one.
      if (!(await storeFile(deps, { turn, file, destination }, signal))) return null
    }
    for (const day of await readDays(deps, archive))
      await storeManifest(deps.postgres, destination, archive, day)
  } catch (error) {
    if (error instanceof DestinationError) return { by: 'destination', reason: error.message }
    throw error
  }
  await deps.postgres.query(
    `UPDATE archives SET next_hour = $3, paused_by = NULL, paused_reason = NULL
     WHERE archive_id = $1 AND next_hour = $2`,
    [archive.archive_id, new Date(archive.next_ms), new Date(archive.next_ms + hourMs)],
  )
  return null
}

/**
 * Returns the files of a turn that are not stored yet. Their names are fixed in the first try. An hour whose events were
 * deleted since then has no file.
 */
async function planFiles(
  deps: ArchiveDeps,
  { archive_id, next_ms }: DueArchive,
  turn: Turn,
): Promise<PlannedFile[]> {
  const clickhouse = clickhouseOf(deps, turn.organizationId)
  const hours = await clickhouse.rows<{ hour_ms: number; rows: number }>(hoursQuery(turn))
  return inTransaction(deps.postgres, async (client) => {
    await client.query('SELECT FROM archives WHERE archive_id = $1 FOR UPDATE', [archive_id])
    await client.query(
      `DELETE FROM archive_files
       WHERE archive_id = $1 AND run_hour = $2 AND stored_at IS NULL AND hour <> ALL($3::timestamptz[])`,
      [archive_id, new Date(next_ms), hours.map(({ hour_ms }) => new Date(hour_ms))],
    )
    await client.query(
      `INSERT INTO archive_files (file_id, archive_id, hour, part, run_hour, rows)
       SELECT file_id, $1, hour, 1 + (
         SELECT count(*) FROM archive_files AS earlier WHERE archive_id = $1 AND earlier.hour = found.hour), $2, rows
       FROM unnest($3::uuid[], $4::timestamptz[], $5::bigint[]) AS found (file_id, hour, rows)
       ON CONFLICT (archive_id, hour, run_hour) DO UPDATE SET rows = excluded.rows
         WHERE archive_files.stored_at IS NULL`,
      [
        archive_id,
        new Date(next_ms),
        hours.map(() => uuidV7()),
        hours.map(({ hour_ms }) => new Date(hour_ms)),
        hours.map(({ rows }) => rows),
      ],
    )
    const { rows } = await client.query<PlannedFile>(
      `SELECT file_id, (extract(epoch FROM hour) * 1000)::float8 AS hour_ms, part, rows::float8 AS rows
       FROM archive_files WHERE archive_id = $1 AND run_hour = $2 AND stored_at IS NULL ORDER BY hour`,
      [archive_id, new Date(next_ms)],
    )
    return rows
  })
}

/** Returns the days of a turn's files, also of those that an earlier try stored before its process died. */
async function readDays(
  { postgres }: ArchiveDeps,
  { archive_id, next_ms }: DueArchive,
): Promise<Set<string>> {
  const { rows } = await postgres.query<{ hour: Date }>(
    'SELECT hour FROM archive_files WHERE archive_id = $1 AND run_hour = $2 AND stored_at IS NOT NULL',
    [archive_id, new Date(next_ms)],
  )
  return new Set(rows.map(({ hour }) => dateAt(hour.getTime())))
}

const recordsOf = (files: readonly PlannedFile[]): number =>
  files.reduce((sum, { rows }) => sum + rows, 0)

/** Returns the pause of a turn whose events, with those that were archived today, exceed the daily maximum. */
async function findDailyPause(
  { postgres }: ArchiveDeps,
  { archive_id, next_ms, daily_records_max: recordsMax }: DueArchive,
  files: readonly PlannedFile[],
): Promise<Pause | null> {
  const { rows } = await postgres.query<{ archived: number }>(
    `SELECT coalesce(sum(rows), 0)::float8 AS archived FROM archive_files
     WHERE archive_id = $1 AND run_hour <> $2 AND stored_at >= date_trunc('day', now(), 'UTC')`,
    [archive_id, new Date(next_ms)],
  )
  const { archived } = rows[0]!
  const next = recordsOf(files)
  if (archived + next <= recordsMax) return null
  const reason =
    next > recordsMax
      ? `The next hour has ${next} events, and daily_records_max is ${recordsMax}. Raise it.`
      : `The archive has charged ${archived} of ${recordsMax} events today (daily_records_max), and the next hour has ${next}. It continues at midnight UTC, or when you raise the maximum.`
  return { by: 'daily_records_max', reason }
}

/** Charges the events of the turn on the meter of the tier web_event, before the first file is sent. */
async function charge(
  deps: ArchiveDeps,
  { archive_id, organization_id, project_id, next_ms }: DueArchive,
  files: readonly PlannedFile[],
): Promise<RefusalCode | null> {
  const records = recordsOf(files)
  if (records === 0) return null
  return chargeJob(deps, {
    requestId: digestId(`archive ${archive_id} ${next_ms}`),
    organizationId: organization_id,
    projectId: project_id,
    callerId: archive_id,
    meter: 'events',
    records,
  })
}

/** Uploads a file. Returns false if its archive was deleted meanwhile. */
async function storeFile(
  deps: ArchiveDeps,
  { turn, file, destination }: { turn: Turn; file: PlannedFile; destination: Destination },
  signal: AbortSignal,
): Promise<boolean> {
  const { postgres, temporaryDirectory } = deps
  const { file_id, hour_ms, part, rows } = file
  const path = join(temporaryDirectory, `archive-${file_id}`)
  const clickhouse = clickhouseOf(deps, turn.organizationId)
  const result = await clickhouse.stream(fileQuery(turn, hour_ms), 'Parquet', signal, settings)
  try {
    const name = fileName(turn.projectId, hour_ms, part)
    const { bytes, sha256 } = await saveStream(result, path, { name, rows })
    await destination.putFile!({ name, content: { path, bytes, sha256 } })
    const { rowCount } = await postgres.query(
      'UPDATE archive_files SET bytes = $2, sha256 = $3, stored_at = now() WHERE file_id = $1',
      [file_id, bytes, sha256],
    )
    return rowCount === 1
  } finally {
    await rm(path, { force: true })
  }
}

/** Whether an error means that events were deleted while a file was written, so that the hour is planned again. */
export const isPlannedAgain = (error: unknown): boolean => error instanceof RowsDiffer
