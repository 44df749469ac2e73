/** Backup of the data directory's files, without the stores. */
import { copyFileSync, cpSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { spoolParts, tableDirectories } from '../../ingest/spool/layout.ts'
import { inState, segmentsIn } from '../../ingest/spool/segmentFile.ts'

/**
 * Files of audiences, waiting uploads, dead letters, the key of customers' secrets, the collector's id, and
 * the demo.
 */
const kept = ['files', 'uploads', 'dead_letters', 'secret_key', 'collector_id', 'demo.json']

/**
 * Copies the files of a data directory, the spool's waiting segments first. Events shipped during the copy
 * are in ClickHouse, which is backed up later, and a restored service removes those duplicates. Returns the
 * bytes of the spool.
 */
export function copyFiles(dataDir: string, directory: string): number {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const spoolBytes = copySpool(join(dataDir, 'spool'), join(directory, 'spool'))
  for (const name of kept) {
    const path = join(dataDir, name)
    if (existsSync(path)) cpSync(path, join(directory, name), { recursive: true })
  }
  return spoolBytes
}

function copySpool(from: string, to: string): number {
  let bytes = 0
  for (const { path } of spoolParts(from).flatMap(tableDirectories)) {
    const target = join(to, path.slice(from.length))
    mkdirSync(target, { recursive: true, mode: 0o700 })
    // A segment that is sealed during the first search appears in the second.
    for (const state of ['open', 'seg'] as const) {
      for (const segment of segmentsIn(path, state)) {
        const copy = join(target, segment.slice(path.length))
        bytes += copySegment(segment, copy)
        // Removes the copy of the segment from before it was sealed.
        if (state === 'seg') rmSync(inState(copy, 'open'), { force: true })
      }
    }
  }
  return bytes
}

/** Copies a segment under its current name. A missing segment is in ClickHouse. */
function copySegment(path: string, target: string): number {
  for (const now of [path, inState(path, 'seg')]) {
    try {
      copyFileSync(now, target)
      return statSync(target).size
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return 0
}

/** Copies the files of a backup into an empty data directory. */
export const putFilesBack = (directory: string, dataDir: string): void =>
  cpSync(directory, dataDir, { recursive: true })
