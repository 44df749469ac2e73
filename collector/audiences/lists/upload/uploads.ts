import { mkdirSync } from 'node:fs'
import { readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Uploaded files of this machine that wait for their import. Each is named by the import's id and readable
 * only by the service.
 */
export interface Uploads {
  /** The machine's collector id. */
  readonly collectorId: string
  pathOf(importId: string): string
  /** Returns the path of an incomplete file. */
  partialPathOf(importId: string): string
  /** Renames a completed file to its final name. */
  keep(importId: string): Promise<void>
  /** Deletes a file, complete or not; a missing one is no error. */
  remove(importId: string): Promise<void>
  /** Returns the imports whose files were not written for this time. */
  list(untouchedMs: number): Promise<string[]>
  /** Whether the disk has more free space than the reserve for incoming events. */
  hasRoom(): Promise<boolean>
}

/** Most bytes of all files that wait on this machine. */
const waitingBytesMax = 32 * 1024 ** 3
/** What uploads leave free of the disk: the spool is on the same one. Of a small one a twentieth. */
const spareBytes = 1024 ** 3
/** How long what waits is not added up again: thousands of files take a fifth of a second. */
const addedUpMs = 1_000

const partial = '.partial'

export function openUploads(dataDir: string, collectorId: string): Uploads {
  const directory = join(dataDir, 'uploads')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const pathOf = (importId: string) => join(directory, importId)
  const partialPathOf = (importId: string) => `${pathOf(importId)}${partial}`
  const stats = async () => {
    const names = await readdir(directory)
    const all = await Promise.all(
      names.map(async (name) => ({
        name,
        file: await stat(join(directory, name)).catch(() => null),
      })),
    )
    return all.flatMap(({ name, file }) => (file ? [{ name, file }] : []))
  }
  let addedUp = { at: -Infinity, bytes: Promise.resolve(0) }
  const waitingBytes = (): Promise<number> => {
    if (performance.now() - addedUp.at >= addedUpMs) {
      const bytes = stats().then((all) => all.reduce((sum, { file }) => sum + file.size, 0))
      addedUp = { at: performance.now(), bytes }
    }
    return addedUp.bytes
  }
  return {
    collectorId,
    pathOf,
    partialPathOf,
    keep: (importId) => rename(partialPathOf(importId), pathOf(importId)),
    async remove(importId) {
      await rm(pathOf(importId), { force: true })
      await rm(partialPathOf(importId), { force: true })
    },
    async list(untouchedMs) {
      const untouched = (await stats()).filter(
        ({ file }) => Date.now() - file.mtimeMs >= untouchedMs,
      )
      return [...new Set(untouched.map(({ name }) => name.replace(partial, '')))]
    },
    async hasRoom() {
      const waiting = await waitingBytes()
      const { bavail, blocks, bsize } = await statfs(directory)
      return (
        waiting <= waitingBytesMax && bavail * bsize > Math.min(spareBytes, (blocks * bsize) / 20)
      )
    },
  }
}
