import { createHash } from 'node:crypto'
import { StartError } from '../../platform/startError.ts'

/**
 * The files of backups: `objects/…` with the content, and `backups/…` with the manifests. The same bytes are stored
 * once, also over several backups. A file appears when all its bytes are durable, and never changes.
 */
export interface ObjectStore {
  /** Where it is, for messages. */
  readonly place: string
  /** Returns the files of a folder with their sizes in bytes. */
  list(folder: Folder): Promise<Map<string, number>>
  put(folder: Folder, name: string, bytes: Buffer): Promise<void>
  /** Returns a file's bytes; null if it does not exist. */
  get(folder: Folder, name: string): Promise<Buffer | null>
  remove(folder: Folder, names: readonly string[]): Promise<void>
  close(): void
}

export const folders = ['objects', 'backups'] as const
export type Folder = (typeof folders)[number]

/** The largest object. Larger contents are split, so that memory can hold an object. */
export const objectBytesMax = 64 * 1024 * 1024

/**
 * The name of an object: its identity, the hash of its bytes and their number. So the list of a store tells which
 * objects are complete, and a read whether one is intact. The identity tells a backup what an object has, before it reads
 * the source.
 */
export const objectName = (identity: string, bytes: Buffer): string =>
  `${identity}.${sha256Of(bytes)}.${bytes.length}`

const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

export const bytesOf = (name: string): number => Number(name.slice(name.lastIndexOf('.') + 1))

const identityOf = (name: string): string => name.split('.', 1)[0]!

/** Returns the bytes of a file that `objectName` has named. Throws StartError if it is missing or damaged. */
export async function readObject(
  store: ObjectStore,
  folder: Folder,
  name: string,
): Promise<Buffer> {
  const bytes = await store.get(folder, name)
  if (!bytes) throw damaged(store, folder, name, 'is missing')
  if (bytes.length !== bytesOf(name))
    throw damaged(
      store,
      folder,
      name,
      `has ${bytes.length} bytes, and should have ${bytesOf(name)}`,
    )
  if (objectName(identityOf(name), bytes) !== name)
    throw damaged(store, folder, name, 'has other bytes than were written')
  return bytes
}

export const damaged = (
  store: ObjectStore,
  folder: Folder,
  name: string,
  reason: string,
): StartError =>
  new StartError(
    `${folder}/${name} of ${store.place} ${reason}: the backup is damaged. Restore another one; npx footfall-server backups lists them. While the stores still have the data, npx footfall-server backup --verify replaces the damaged part`,
  )

/** Writes the objects of a backup, except those that the store has. */
export class ObjectWriter {
  readonly #store: ObjectStore
  /** The complete objects by identity, and by name. */
  readonly #known = new Map<string, string>()
  readonly #used = new Set<string>()
  /** Bytes that this backup has written, and bytes of objects that the store had. */
  readonly written = { objects: 0, bytes: 0 }
  readonly reused = { objects: 0, bytes: 0 }
  /** Names of the objects that had other bytes than were written. They were removed, and replaced. */
  readonly damaged: string[] = []
  readonly #verifies: boolean

  /** With `verifies`, it reads every object before it is kept. */
  constructor(
    store: ObjectStore,
    present: ReadonlyMap<string, number>,
    { verifies = false }: { verifies?: boolean } = {},
  ) {
    this.#store = store
    this.#verifies = verifies
    for (const [name, bytes] of present) {
      if (bytes !== bytesOf(name)) continue
      this.#known.set(name, name)
      this.#known.set(identityOf(name), name)
    }
  }

  /** Returns the object with this content, if the store has it. */
  async find(identity: string): Promise<string | undefined> {
    const name = this.#known.get(identity)
    if (name === undefined || !(await this.#isIntact(name))) return undefined
    this.#use(name)
    return name
  }

  /** Stores the bytes, unless the store has them, and returns the name of their object. */
  async save(identity: string, bytes: Buffer): Promise<string> {
    const name = objectName(identity, bytes)
    if (this.#known.has(name) && (await this.#isIntact(name))) {
      this.#use(name)
      return name
    }
    await this.#store.put('objects', name, bytes)
    this.#known.set(name, name)
    this.#used.add(name)
    this.written.objects++
    this.written.bytes += bytes.length
    return name
  }

  /** Reads an object again. Removes a damaged one, so that no later backup keeps it. */
  async #isIntact(name: string): Promise<boolean> {
    if (!this.#verifies || this.#used.has(name)) return true
    const bytes = await this.#store.get('objects', name)
    if (bytes && objectName(identityOf(name), bytes) === name) return true
    this.damaged.push(name)
    this.#known.delete(name)
    this.#known.delete(identityOf(name))
    await this.#store.remove('objects', [name])
    return false
  }

  #use(name: string): void {
    if (this.#used.has(name)) return
    this.#used.add(name)
    this.reused.objects++
    this.reused.bytes += bytesOf(name)
  }

  /** Throws unless the store has every object of this backup. Another process may have removed some. */
  async requireComplete(): Promise<void> {
    const present = await this.#store.list('objects')
    for (const name of this.#used)
      if (present.get(name) !== bytesOf(name))
        throw new StartError(
          `objects/${name} was removed from ${this.#store.place} during the backup: start the backup again`,
        )
  }
}
