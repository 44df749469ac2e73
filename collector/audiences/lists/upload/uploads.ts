import { mkdirSync } from 'node:fs'
import { readdir, rename, rm, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'

/** Uploaded files of this machine that wait for their import, readable only by the service. */
export interface Uploads {
  readonly collectorId: string
  pathOf(importId: string): string
  /** Returns the path of an incomplete file, which names its organization. */
  partialPathOf(upload: Arriving): string
  /** Renames a completed file to its final name. */
  keep(upload: Arriving): Promise<void>
  /** Deletes a file, complete or not; a missing one is no error. */
  remove(importId: string): Promise<void>
  /** Returns the imports whose files were not written for this time. */
  list(untouchedMs: number): Promise<string[]>
  /** Returns the bytes of an organization's incomplete files, of all processes of this machine. */
  arrivingBytes(organizationId: string): Promise<number>
  /** Whether the disk has more free space than the reserve for incoming events. */
  hasRoom(): Promise<boolean>
}

export interface Arriving {
  readonly importId: string
  readonly organizationId: string
}

/** Most bytes of all files that wait on this machine. */
const waitingBytesMax = 32 * 1024 ** 3
/** What uploads leave free of the disk: the spool is on the same one. Of a small one a twentieth. */
const spareBytes = 1024 ** 3
/** How long the sizes of the files are cached: to read those of thousands takes a fifth of a second. */
const cachedMs = 1_000

const partial = '.partial'
const importIdOf = (name: string): string => name.split('.')[0]!

export function openUploads(dataDir: string, collectorId: string): Uploads {
  const directory = join(dataDir, 'uploads')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const pathOf = (importId: string) => join(directory, importId)
  const partialPathOf = ({ importId, organizationId }: Arriving) =>
    `${pathOf(importId)}.${organizationId}${partial}`
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
  let cached: { at: number; files: ReturnType<typeof stats> } | null = null
  const cachedStats = () => {
    if (!cached || performance.now() - cached.at >= cachedMs)
      cached = { at: performance.now(), files: stats() }
    return cached.files
  }
  const bytesOf = async (isCounted: (name: string) => boolean): Promise<number> =>
    (await cachedStats())
      .filter(({ name }) => isCounted(name))
      .reduce((sum, { file }) => sum + file.size, 0)
  return {
    collectorId,
    pathOf,
    partialPathOf,
    keep: (upload) => rename(partialPathOf(upload), pathOf(upload.importId)),
    async remove(importId) {
      const names = (await readdir(directory)).filter((name) => importIdOf(name) === importId)
      for (const name of names) await rm(join(directory, name), { force: true })
    },
    async list(untouchedMs) {
      const untouched = (await stats()).filter(
        ({ file }) => Date.now() - file.mtimeMs >= untouchedMs,
      )
      return [...new Set(untouched.map(({ name }) => importIdOf(name)))]
    },
    arrivingBytes: (organizationId) =>
      bytesOf((name) => name.endsWith(`.${organizationId}${partial}`)),
    async hasRoom() {
      const waiting = await bytesOf(() => true)
      const { bavail, blocks, bsize } = await statfs(directory)
      return (
        waiting <= waitingBytesMax && bavail * bsize > Math.min(spareBytes, (blocks * bsize) / 20)
      )
    },
  }
}
