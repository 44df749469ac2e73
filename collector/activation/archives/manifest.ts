import { dateAt } from '../../platform/days.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import type { Destination } from '../integrations/destinations/destination.ts'
import { archivedFields } from './hourQuery.ts'

const directoryOf = (projectId: string, day: string): string => `project=${projectId}/day=${day}/`

/** Returns the name of a file: `hour=09.parquet`, and for late events `hour=09-2.parquet`. */
export const fileName = (projectId: string, hourStartMs: number, part: number): string =>
  `${directoryOf(projectId, dateAt(hourStartMs))}${shortName(hourStartMs, part)}`

const shortName = (hourStartMs: number, part: number): string =>
  `hour=${new Date(hourStartMs).toISOString().slice(11, 13)}${part === 1 ? '' : `-${part}`}.parquet`

interface StoredFile {
  hour_ms: number
  part: number
  rows: number
  bytes: number
  sha256: string
}

export async function storeManifest(
  postgres: Postgres,
  destination: Destination,
  { archive_id, project_id }: { archive_id: string; project_id: string },
  day: string,
): Promise<void> {
  const { rows } = await postgres.query<StoredFile>(
    `SELECT (extract(epoch FROM hour) * 1000)::float8 AS hour_ms, part, rows::float8 AS rows,
       bytes::float8 AS bytes, sha256
     FROM archive_files
     WHERE archive_id = $1 AND stored_at IS NOT NULL AND (hour AT TIME ZONE 'UTC')::date = $2::date
     ORDER BY hour, part`,
    [archive_id, day],
  )
  const manifest = {
    project_id,
    day,
    format: 'parquet',
    columns: archivedFields.map(({ name }) => name),
    rows: rows.reduce((sum, file) => sum + file.rows, 0),
    files: rows.map(({ hour_ms, part, rows, bytes, sha256 }) => ({
      name: shortName(hour_ms, part),
      hour: new Date(hour_ms).toISOString(),
      rows,
      bytes,
      sha256,
    })),
  }
  await destination.putFile!({
    name: `${directoryOf(project_id, day)}manifest.json`,
    content: { text: `${JSON.stringify(manifest, null, 2)}\n` },
  })
}
