import { clickhouseOf, type EventStores } from '../../events/query/eventStores.ts'
import { erasedHems } from '../../events/query/profiles/suppressedPeople.ts'
import { hiddenPeopleChanged } from '../../identity/privacy/optOuts.ts'
import type { Again, Job, Queue } from '../../platform/jobs/queue.ts'
import { LeaseHeldError } from '../../platform/postgres/lease.ts'
import { isUnavailable } from '../../platform/storeErrors.ts'
import { expireFile, filesQueue } from './audienceFiles.ts'
import { readShown, type WriteDeps, writeFile } from './writeFile.ts'

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

/** Deletes the bytes of expired files. */
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
