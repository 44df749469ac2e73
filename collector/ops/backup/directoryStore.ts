import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { folders, type ObjectStore } from './objectStore.ts'

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
