import type { Postgres } from '../../../platform/postgres/pool.ts'
import { runEvery } from '../../../platform/runEvery.ts'
import type { Uploads } from './uploads.ts'

/** An upload without writes for this time has ended. */
const untouchedMs = 3_600_000

/** Deletes files of this machine that no import waits for. */
export async function removeLeftUploads(
  { postgres, uploads }: { postgres: Postgres; uploads: Uploads },
  untouchedForMs = untouchedMs,
): Promise<void> {
  const importIds = await uploads.list(untouchedForMs)
  if (importIds.length === 0) return
  const { rows } = await postgres.query<{ import_id: string }>(
    `SELECT import_id FROM list_imports WHERE import_id::text = ANY($1) AND status IN ('pending', 'processing')`,
    [importIds],
  )
  const waiting = new Set(rows.map(({ import_id }) => import_id))
  for (const importId of importIds) if (!waiting.has(importId)) await uploads.remove(importId)
}

/** Runs hourly on each machine, which has its own files; a job runs on one machine. */
export const keepUploadsClean = ({
  log,
  ...deps
}: {
  postgres: Postgres
  uploads: Uploads
  log: { warn(message: string): void }
}) =>
  runEvery(
    untouchedMs,
    () => removeLeftUploads(deps),
    (error) => log.warn(`cannot delete abandoned uploads: ${error.message}`),
  )
