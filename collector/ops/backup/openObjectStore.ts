import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Config } from '../../config.ts'
import { StartError } from '../../platform/startError.ts'
import { folders, type ObjectStore } from './objectStore.ts'

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

/** Marks a file that is being written. */
const draftEnd = '.draft'

/** Backups in a directory, which the first `put` creates. */
export function openDirectoryStore(given: string): ObjectStore {
  const directory = resolve(given)
  return {
    place: directory,
    async list(folder) {
      const names = await readdir(join(directory, folder)).catch(orNothing<string[]>([]))
      const files = new Map<string, number>()
      for (const name of names) {
        if (name.endsWith(draftEnd)) continue
        files.set(name, (await stat(join(directory, folder, name))).size)
      }
      return files
    },
    async put(folder, name, bytes) {
      for (const each of folders)
        await mkdir(join(directory, each), { recursive: true, mode: 0o700 })
      const path = join(directory, folder, name)
      const draft = `${path}${draftEnd}`
      const file = await open(draft, 'w', 0o600)
      try {
        await file.writeFile(bytes)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(draft, path)
      await syncDirectory(join(directory, folder))
    },
    get: (folder, name) => readFile(join(directory, folder, name)).catch(orNothing(null)),
    async remove(folder, names) {
      for (const name of names) await rm(join(directory, folder, name), { force: true })
    },
    close() {},
  }
}

/** Makes the names of a directory's files durable. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path)
  await directory.sync().finally(() => directory.close())
}

/** Returns a handler that replaces the error of a missing file with `nothing`. */
const orNothing =
  <T>(nothing: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT') return nothing
    throw error
  }
