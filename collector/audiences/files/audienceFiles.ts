import { clickhouseOf, type EventStores } from '../../events/query/eventStores.ts'
import { erasedHems } from '../../events/query/profiles/suppressedPeople.ts'
import { hiddenPeopleChanged } from '../../identity/privacy/optOuts.ts'
import { type Again, type Job, type Queue, wakeQueue } from '../../platform/jobs/queue.ts'
import { LeaseHeldError } from '../../platform/postgres/lease.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { isUnavailable } from '../../platform/storeErrors.ts'
import {
  type FileFormat,
  type FilePart,
  readShown,
  type WriteDeps,
  writeFile,
} from './writeFile.ts'

/** The queue that finds files to write, verify or delete. */
export const filesQueue = 'audiences.files'

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

/** True if an opt-out or an erasure after the verification of a file may concern a member. */
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

const oneFile = 'audiences.file'

/** The background jobs of files: write them, expire those with a hidden person, delete expired ones. */
export const fileQueues = (deps: WriteDeps): Queue[] => [
  {
    name: filesQueue,
    schedule: '* * * * *',
    async run({ send }) {
      const { rows } = await deps.postgres.query<{ file_id: string }>(
        `SELECT file_id FROM audience_files WHERE status IN ('pending', 'unloading') ORDER BY updated_at LIMIT 1000`,
      )
      for (const { file_id } of rows) await send(oneFile, file_id)
      await deleteExpired(deps)
      await deleteLeftovers(deps)
    },
  },
  { name: oneFile, timeoutSeconds: 3_600, run: (job) => write(deps, job) },
  { name: hiddenPeopleChanged, schedule: '* * * * *', run: () => verifyFiles(deps) },
]

/** Delay before a file that another process writes is tried again. */
const heldSeconds = 5

async function write(deps: WriteDeps, { key, isLastTry, signal }: Job): Promise<Again | undefined> {
  try {
    await writeFile(deps, key!, signal)
    return undefined
  } catch (error) {
    if (error instanceof LeaseHeldError) return { againInSeconds: heldSeconds }
    if (isLastTry && !isUnavailable(error)) {
      await deps.postgres.query(
        `UPDATE audience_files SET status = 'failed', updated_at = now() WHERE file_id = $1 AND status = 'unloading'`,
        [key],
      )
    }
    throw error
  }
}

/** Expires files that contain a person who was hidden after their verification. */
async function verifyFiles({ postgres, clickhouse }: EventStores): Promise<void> {
  const { rows } = await postgres.query<{
    file_id: string
    build_id: string
    organization_id: string
    entity: 'people' | 'companies'
    fingerprint: string
    now: Date
  }>(
    `SELECT file_id, build_id, organization_id, entity, shown AS fingerprint, now()
     FROM audience_files JOIN audience_builds USING (build_id) JOIN audiences USING (audience_id)
     JOIN projects USING (project_id)
     WHERE audience_files.status = 'ready'`,
  )
  for (const { file_id, build_id, organization_id, entity, fingerprint, now } of rows) {
    const erased = await erasedHems(postgres, organization_id)
    const present = await readShown(clickhouseOf({ clickhouse }, organization_id), {
      organizationId: organization_id,
      buildId: build_id,
      entity,
      erased,
    })
    if (present.fingerprint !== fingerprint) await expireFile(postgres, file_id)
    else
      await postgres.query('UPDATE audience_files SET verified_at = $2 WHERE file_id = $1', [
        file_id,
        now,
      ])
  }
}

async function deleteExpired({
  postgres,
  store,
}: Pick<WriteDeps, 'postgres' | 'store'>): Promise<void> {
  await postgres.query(
    `UPDATE audience_files SET status = 'expired', updated_at = now() WHERE status = 'ready' AND expires_at <= now()`,
  )
  const { rows } = await postgres.query<{ file_id: string }>(
    `SELECT file_id FROM audience_files WHERE status IN ('expired', 'failed') AND is_stored LIMIT 1000`,
  )
  for (const { file_id } of rows) {
    await store.remove(file_id)
    await postgres.query('UPDATE audience_files SET is_stored = false WHERE file_id = $1', [
      file_id,
    ])
  }
}

/** Deletes the bytes of files whose rows were deleted with their audience. */
async function deleteLeftovers({
  postgres,
  store,
}: Pick<WriteDeps, 'postgres' | 'store'>): Promise<void> {
  const { rows } = await postgres.query<{ file_id: string }>(
    'SELECT file_id FROM audience_file_leftovers LIMIT 1000',
  )
  for (const { file_id } of rows) {
    await store.remove(file_id)
    await postgres.query('DELETE FROM audience_file_leftovers WHERE file_id = $1', [file_id])
  }
}
