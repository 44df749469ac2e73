import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Cursors } from '../../api/http/cursors.ts'
import type { Config, S3Settings } from '../../config.ts'
import { type FileStore, openDirectoryStore } from './fileStore.ts'

export interface Files {
  readonly files: FileStore
  /** The directory on this machine for files, or for parts before they are uploaded to the store. */
  readonly filesDirectory: string
}

/** Opens the store of FOOTFALL_S3_*, otherwise a directory in the data directory. */
export function openFiles(
  { dataDir, publicUrl, s3 }: Pick<Config, 'dataDir' | 'publicUrl' | 's3'>,
  cursors: Cursors,
): Files {
  const filesDirectory = join(dataDir, 'files')
  mkdirSync(filesDirectory, { recursive: true, mode: 0o700 })
  const files = s3 ? openS3(s3) : openDirectoryStore(filesDirectory, publicUrl, cursors)
  return { files, filesDirectory }
}

/** The S3 store, whose modules take a tenth of a second to load, so the first call loads them. */
function openS3(settings: S3Settings): FileStore {
  let opened: Promise<FileStore> | null = null
  const open = () => {
    opened ??= import('./s3Store.ts').then(({ openS3Store }) => openS3Store(settings))
    return opened
  }
  return {
    save: async (...part) => (await open()).save(...part),
    urlOf: async (...part) => (await open()).urlOf(...part),
    remove: async (fileId) => (await open()).remove(fileId),
  }
}
