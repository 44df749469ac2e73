import type { Config } from '../../config.ts'
import { StartError } from '../../platform/startError.ts'
import { openDirectoryStore } from './directoryStore.ts'
import type { ObjectStore } from './objectStore.ts'

/** Opens the store in `directory`, or without one that of FOOTFALL_BACKUP_S3_*. Throws StartError if there is none. */
export async function openObjectStore(
  { backupS3 }: Pick<Config, 'backupS3'>,
  directory: string | undefined,
): Promise<ObjectStore> {
  if (directory !== undefined) return openDirectoryStore(directory)
  if (!backupS3)
    throw new StartError(
      'name a directory for backups, or set FOOTFALL_BACKUP_S3_BUCKET, _ACCESS_KEY_ID and _SECRET_ACCESS_KEY',
    )
  const { openS3ObjectStore } = await import('./s3ObjectStore.ts')
  return openS3ObjectStore(backupS3)
}
