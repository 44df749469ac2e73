import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Cursors } from '../../api/http/cursors.ts'

/** The storage of files' parts: a directory of one machine, or a store that all machines share. */
export interface FileStore {
  /** Stores the complete part at `path` atomically under its name. */
  save(fileId: string, name: string, path: string): Promise<void>
  /** Returns a URL for a part that needs no key and is valid until that time. */
  urlOf(fileId: string, name: string, untilMs: number): Promise<string>
  /** Deletes all existing parts of a file. */
  remove(fileId: string): Promise<void>
}

/** The part that a URL allows to download, and its expiry. */
export interface Ticket {
  readonly fileId: string
  readonly name: string
  readonly untilMs: number
}

/** Signs the URLs of parts that this service serves itself. */
export const ticketsOf = (cursors: Cursors) => cursors<Ticket>('audience_file')
export const ticketOwner = 'audience_files'
export const partPath = '/api/v1/audience_files'

/** Parts in a directory, served by filesRoute.ts. */
export function openDirectoryStore(
  directory: string,
  publicUrl: string,
  cursors: Cursors,
): FileStore {
  const tickets = ticketsOf(cursors)
  return {
    async save(fileId, name, path) {
      await mkdir(join(directory, fileId), { recursive: true, mode: 0o700 })
      await rename(path, join(directory, fileId, name))
    },
    urlOf: async (fileId, name, untilMs) =>
      `${publicUrl}${partPath}/${name}?ticket=${tickets.write(ticketOwner, { fileId, name, untilMs })}`,
    remove: (fileId) => rm(join(directory, fileId), { recursive: true, force: true }),
  }
}
