import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Cursors } from '../../api/http/cursors.ts'
import type { Config } from '../../config.ts'
import { type FileStore, openDirectoryStore } from './store.ts'

/** Where the files of audiences lie. */
export interface Files {
  readonly files: FileStore
  /** Where they lie on this machine, or are written before they go to the store. */
  readonly filesDirectory: string
}

/** Opens the store of FOOTFALL_S3_*, or else a directory in the data directory. */
export async function openFiles(
  { dataDir, publicUrl, s3 }: Pick<Config, 'dataDir' | 'publicUrl' | 's3'>,
  cursors: Cursors,
): Promise<Files> {
  const filesDirectory = join(dataDir, 'files')
  mkdirSync(filesDirectory, { recursive: true, mode: 0o700 })
  if (!s3) return { files: openDirectoryStore(filesDirectory, publicUrl, cursors), filesDirectory }
  // A tenth of a second to load, so only where it is used.
  const { openS3Store } = await import('./s3Store.ts')
  return { files: openS3Store(s3), filesDirectory }
}
