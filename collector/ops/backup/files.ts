/** Backup of the data directory's files, without the stores. */
import { createReadStream, existsSync, readdirSync } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { tableDirectories, workerDirectories } from '../../ingest/spool/layout.ts'
import { inState, segmentsIn } from '../../ingest/spool/segmentFile.ts'
import type { FileManifest } from './manifest.ts'
import { bytesOf, type ObjectStore, type ObjectWriter, readObject } from './objectStore.ts'

/** Audiences, uploads, dead letters, the key of secrets, the collector's id, and the demo. */
const kept = ['files', 'uploads', 'dead_letters', 'secret_key', 'collector_id', 'demo.json']

/** Files are cut into pieces of this size. */
const pieceBytes = 16 * 1024 * 1024

/**
 * Saves the files of a data directory, the spool's waiting segments first. Events shipped meanwhile are in ClickHouse,
 * which is backed up later, and a restored service removes those duplicates.
 */
export async function saveFiles(dataDir: string, writer: ObjectWriter): Promise<FileManifest[]> {
  const spool = await saveSpool(dataDir, writer)
  const files: FileManifest[] = []
  for (const path of kept.flatMap((name) => filesIn(join(dataDir, name)))) {
    const objects = await saveFile(path, writer)
    if (objects) files.push({ path: relative(dataDir, path), objects })
  }
  return [...spool, ...files]
}

export const bytesOfFiles = (files: readonly FileManifest[]): number =>
  files.flatMap(({ objects }) => objects).reduce((sum, object) => sum + bytesOf(object), 0)

export const isSpooled = ({ path }: FileManifest): boolean => path.startsWith('spool/')

async function saveSpool(dataDir: string, writer: ObjectWriter): Promise<FileManifest[]> {
  const saved = new Map<string, string[]>()
  for (const { path: directory } of workerDirectories(join(dataDir, 'spool')).flatMap(
    tableDirectories,
  )) {
    // A segment that is sealed during the first search appears in the second.
    for (const state of ['open', 'seg'] as const) {
      for (const segment of segmentsIn(directory, state)) {
        // Forgets the content from before the segment was sealed.
        if (state === 'seg') saved.delete(inState(segment, 'open'))
        // A segment that is missing under both names is in ClickHouse.
        const objects =
          (await saveFile(segment, writer)) ?? (await saveFile(inState(segment, 'seg'), writer))
        if (objects) saved.set(segment, objects)
      }
    }
  }
  return [...saved].map(([path, objects]) => ({ path: relative(dataDir, path), objects }))
}

/** Returns the objects of a file; null if the file does not exist. */
async function saveFile(path: string, writer: ObjectWriter): Promise<string[] | null> {
  const objects: string[] = []
  try {
    for await (const bytes of createReadStream(path, { highWaterMark: pieceBytes }))
      objects.push(await writer.save('file', bytes))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
  return objects
}

/** Returns all files at or below `path`; none if it does not exist. */
function filesIn(path: string): string[] {
  if (!existsSync(path)) return []
  try {
    return readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return [path]
    throw error
  }
}

/** Writes the files of a backup into an empty data directory. */
export async function putFilesBack(
  store: ObjectStore,
  files: readonly FileManifest[],
  dataDir: string,
): Promise<void> {
  for (const { path, objects } of files) {
    const target = join(dataDir, path)
    await mkdir(dirname(target), { recursive: true, mode: 0o700 })
    const file = await open(target, 'w', 0o600)
    try {
      for (const object of objects) await file.write(await readObject(store, 'objects', object))
      await file.sync()
    } finally {
      await file.close()
    }
  }
}
