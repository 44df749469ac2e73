import { wakeQueue } from '../../platform/jobs/queue.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'

/** The queue that finds files to write, verify or delete. */
export const filesQueue = 'audiences.files'

/** The formats to choose from. */
export const formats = ['csv', 'ndjson', 'parquet'] as const
/** The format of a file. `csv` has escaped formulas, `csv_unescaped` texts as they are. */
export type FileFormat = (typeof formats)[number] | 'csv_unescaped'

export interface FilePart {
  readonly name: string
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
}

export interface AudienceFile {
  file_id: string
  build_id: string
  format: FileFormat
  status: 'pending' | 'unloading' | 'ready' | 'failed' | 'expired'
  parts: FilePart[]
  expires_at: Date | null
  /** Whether one of its people may have been hidden since the verification. */
  is_doubtful: boolean
  /** The fingerprint of the members that it has (shownQuery). */
  fingerprint: string | null
}

/** Time after which a failed file is requested again. */
const retrySeconds = 60

/**
 * True if an opt-out or an erasure after the verification of a file may concern one of its members. The file
 * is not served meanwhile.
 */
const isDoubtful = `(EXISTS (SELECT FROM opt_outs WHERE removed_at IS NULL AND hem IS NOT NULL
    AND (organization_id IS NULL OR organization_id = projects.organization_id)
    AND (created_at > verified_at OR NOT is_known_to_clickhouse))
  OR EXISTS (SELECT FROM erasures WHERE requested_at > verified_at
    AND (organization_id IS NULL OR organization_id = projects.organization_id)))`

const select = `SELECT file_id, build_id, format, audience_files.status, parts, expires_at, ${isDoubtful} AS is_doubtful,
    audience_files.shown AS fingerprint
  FROM audience_files JOIN audience_builds USING (build_id) JOIN audiences USING (audience_id)
  JOIN projects USING (project_id)`

/** Reads the newest file of a build in a format. */
export async function readFile(
  client: Queryable,
  buildId: string,
  format: FileFormat,
): Promise<AudienceFile | undefined> {
  const { rows } = await client.query<AudienceFile>(
    `${select} WHERE build_id = $1 AND format = $2
     ORDER BY audience_files.status = 'expired', audience_files.updated_at DESC LIMIT 1`,
    [buildId, format],
  )
  return rows[0]
}

/** Reads a file; undefined if it was deleted with its audience. */
export async function readFileById(
  client: Queryable,
  fileId: string,
): Promise<AudienceFile | undefined> {
  return (await client.query<AudienceFile>(`${select} WHERE file_id = $1`, [fileId])).rows[0]
}

/** Requests the file of a build, unless it exists or recently failed. */
export async function requestFile(
  client: Queryable,
  buildId: string,
  format: FileFormat,
): Promise<void> {
  await client.query(
    `INSERT INTO audience_files (build_id, format) SELECT $1, $2
     WHERE NOT EXISTS (SELECT FROM audience_files WHERE build_id = $1 AND format = $2 AND status = 'failed'
       AND updated_at > now() - make_interval(secs => $3))
     ON CONFLICT DO NOTHING`,
    [buildId, format, retrySeconds],
  )
  await wakeQueue(client, filesQueue)
}

/** Expires a file; the next job deletes its bytes. */
export async function expireFile(client: Queryable, fileId: string): Promise<void> {
  await client.query(
    `UPDATE audience_files SET status = 'expired', updated_at = now() WHERE file_id = $1 AND status = 'ready'`,
    [fileId],
  )
  await wakeQueue(client, filesQueue)
}
