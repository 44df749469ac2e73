import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fdatasync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  unlinkSync,
  write,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { decodeSegment, encodeRecord } from './record.ts'

const writeAt = promisify(write)
const sync = promisify(fdatasync)

/** Thrown by `append` when nothing was kept: the caller must not acknowledge, and may try again later. */
export class SpoolUnavailable extends Error {}

export interface SpoolOptions {
  /** Owned by this process alone. */
  directory: string
  /** A segment is sealed when it is this large… */
  segmentBytesMax: number
  /** …or this old, unless `isBehind` says that segments sealed earlier still wait to be shipped. */
  sealAfterMs: number
  isBehind: () => boolean
  /** Bytes of all segments; past this, `append` refuses. */
  bytesMax: number
  /** Called with a segment's path when it may be shipped. */
  onSealed: (path: string) => void
}

interface Waiting {
  firstSeq: number
  lines: string
  rows: number
  resolve: () => void
  reject: (error: Error) => void
}

/**
 * An append-only log of rows on their way to ClickHouse. `append` resolves when its rows are on disk: all that
 * arrives while one write and fdatasync is under way goes into the next, so there is never more than one.
 *
 * Files: `<spool_id>.<first seq>.open` is being written, `….seg` is sealed and waits to be shipped. Every start has
 * a new spool_id, a UUIDv7, so names sort by age and no (spool_id, seq) is ever used twice.
 */
export class Spool {
  readonly spoolId = uuidV7()
  readonly #options: SpoolOptions
  #nextSeq = 1
  #waiting: Waiting[] = []
  #committing: Promise<void> | null = null
  #open: { path: string; fd: number; bytes: number } | null = null
  #bytesSealed = 0
  #sealTimer: NodeJS.Timeout | null = null
  #closed = false

  /** Opens the directory: what a killed process left is cut to its whole records and sealed. */
  constructor(options: SpoolOptions) {
    this.#options = options
    mkdirSync(options.directory, { recursive: true, mode: 0o700 })
    for (const path of recover(options.directory)) {
      this.#bytesSealed += statSync(path).size
      options.onSealed(path)
    }
  }

  /** Bytes on disk that ClickHouse does not have yet. */
  get bytes(): number {
    return this.#bytesSealed + (this.#open?.bytes ?? 0)
  }

  /**
   * Keeps rows. Each is the text of a JSON object with at least one member; the spool adds `spool_id` and `seq`. Resolves when they are
   * durable; rejects with SpoolUnavailable when the spool is full or the disk refuses, and then none was kept.
   */
  append(rows: readonly string[]): Promise<void> {
    if (this.#closed) return Promise.reject(new SpoolUnavailable('the spool is closed'))
    if (this.bytes >= this.#options.bytesMax) return Promise.reject(new SpoolUnavailable('the spool is full'))
    const firstSeq = this.#nextSeq
    let lines = ''
    for (const row of rows) {
      lines += `${row.slice(0, -1)},"spool_id":"${this.spoolId}","seq":${this.#nextSeq++}}\n`
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ firstSeq, lines, rows: rows.length, resolve, reject })
      this.#committing ??= this.#commit()
    })
  }

  /** Tells the spool that a sealed segment of this many bytes is gone from the directory. */
  released(bytes: number): void {
    this.#bytesSealed -= bytes
  }

  /** Commits what waits, seals, and accepts nothing more. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#committing
    if (this.#sealTimer) clearTimeout(this.#sealTimer)
    this.#seal()
  }

  async #commit(): Promise<void> {
    // Whatever arrives in the same turn of the event loop shares the write.
    await new Promise(setImmediate)
    while (this.#waiting.length > 0) {
      const group = this.#waiting
      this.#waiting = []
      try {
        await this.#write(group)
        for (const one of group) one.resolve()
      } catch (error) {
        const refused = new SpoolUnavailable(`the disk refused: ${(error as Error).message}`)
        for (const one of group) one.reject(refused)
      }
    }
    this.#committing = null
  }

  async #write(group: readonly Waiting[]): Promise<void> {
    this.#open ??= this.#openSegment(group[0]!.firstSeq)
    const open = this.#open
    let lines = ''
    let rows = 0
    for (const one of group) {
      lines += one.lines
      rows += one.rows
    }
    const record = encodeRecord(lines, rows)
    try {
      for (let written = 0; written < record.length; ) {
        const step = await writeAt(open.fd, record, written, record.length - written, open.bytes + written)
        written += step.bytesWritten
      }
      await sync(open.fd)
    } catch (error) {
      // After a failed write or sync nobody knows what the file holds past the last commit: cut there, go on in
      // a new file.
      this.#abandon(open)
      throw error
    }
    open.bytes += record.length
    const isLarge = open.bytes >= this.#options.segmentBytesMax
    if (isLarge) this.#seal()
    else this.#sealTimer ??= setTimeout(() => this.#sealWhenDue(), this.#options.sealAfterMs)
  }

  #openSegment(firstSeq: number) {
    const path = join(this.#options.directory, `${this.spoolId}.${String(firstSeq).padStart(16, '0')}.open`)
    const fd = openSync(path, 'wx', 0o600)
    syncDirectory(this.#options.directory)
    return { path, fd, bytes: 0 }
  }

  #sealWhenDue(): void {
    // A commit under way still writes to the open segment.
    if (this.#committing) this.#sealTimer = setTimeout(() => this.#sealWhenDue(), 2)
    else if (this.#options.isBehind())
      this.#sealTimer = setTimeout(() => this.#sealWhenDue(), this.#options.sealAfterMs)
    else {
      this.#sealTimer = null
      this.#seal()
    }
  }

  #seal(): void {
    const open = this.#open
    if (!open) return
    this.#open = null
    closeSync(open.fd)
    const sealed = open.path.replace(/open$/, 'seg')
    renameSync(open.path, sealed)
    this.#bytesSealed += open.bytes
    this.#options.onSealed(sealed)
  }

  #abandon(open: { path: string; fd: number; bytes: number }): void {
    this.#open = null
    try {
      closeSync(open.fd)
      truncateSync(open.path, open.bytes)
      const [sealed] = sealLeftover(open.path)
      if (!sealed) return
      this.#bytesSealed += open.bytes
      this.#options.onSealed(sealed)
    } catch {
      // The disk refuses this too; the next start recovers the file.
    }
  }
}

/** Seals what an earlier process left open. Returns the paths of all sealed segments, oldest first. */
function recover(directory: string): string[] {
  for (const name of readdirSync(directory)) if (name.endsWith('.open')) sealLeftover(join(directory, name))
  syncDirectory(directory)
  return readdirSync(directory)
    .filter((name) => name.endsWith('.seg'))
    .sort()
    .map((name) => join(directory, name))
}

/** Cuts a segment's torn tail, makes the rest durable and seals it; an empty one is removed. */
function sealLeftover(path: string): string[] {
  const { wholeBytes } = decodeSegment(readFileSync(path))
  if (wholeBytes === 0) {
    unlinkSync(path)
    return []
  }
  truncateSync(path, wholeBytes)
  const fd = openSync(path, 'r+')
  fsyncSync(fd)
  closeSync(fd)
  const sealed = path.replace(/open$/, 'seg')
  renameSync(path, sealed)
  return [sealed]
}

/** A file's name is durable only when its directory is. */
function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r')
  fsyncSync(fd)
  closeSync(fd)
}

/** RFC 9562 version 7: 48 bits of milliseconds, then random bits. */
function uuidV7(): string {
  const bytes = randomBytes(16)
  bytes.writeUIntBE(Date.now(), 0, 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
