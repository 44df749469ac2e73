import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Decompress } from 'fzstd'
import { StartError } from '../../platform/startError.ts'

export const formats = ['csv', 'ndjson', 'parquet'] as const
export type Format = (typeof formats)[number]

export interface Source {
  /** The path as the user gave it. */
  readonly name: string
  /** Its size; null if unknown before its end. */
  readonly bytes: number | null
  /** The same for the same content; null for standard input, which cannot be read again. */
  readonly identity: string | null
  readonly format: Format
  /**
   * Reads the unpacked content as UTF-8. Throws StartError for a damaged archive; for one that ends early only without
   * `onEarlyEnd`, which is then called after the content before that.
   */
  read(onEarlyEnd?: () => void): AsyncGenerator<Buffer>
  /** Number of packed bytes that read() has consumed. */
  position(): number
}

const endings: readonly (readonly [RegExp, Format])[] = [
  [/\.csv$/i, 'csv'],
  [/\.(ndjson|jsonl|json)$/i, 'ndjson'],
  [/\.parquet$/i, 'parquet'],
]

/** Opens a file with the given format, or the format of its name. Throws StartError. */
export async function openFile(path: string, given: Format | null): Promise<Source> {
  const identity = await identify(path).catch((error: NodeJS.ErrnoException) => {
    throw new StartError(`${path} cannot be read: ${error.code ?? error.message}`)
  })
  const plainName = path.replace(/\.(gz|zst|zstd)$/i, '')
  const format = given ?? endings.find(([ending]) => ending.test(plainName))?.[1]
  if (!format) throw new StartError(`${path}: set --format to ${formats.join(', ')}`)
  return sourceOf({ name: path, ...identity, format }, () =>
    createReadStream(path, { highWaterMark: 1 << 20 }),
  )
}

/** Opens standard input, whose format must be given. */
export function openStdin(stdin: Readable, format: Format | null): Source {
  if (!format) throw new StartError(`-: set --format to ${formats.join(', ')}`)
  return sourceOf({ name: '-', bytes: null, identity: null, format }, () => stdin)
}

function sourceOf(facts: Omit<Source, 'read' | 'position'>, open: () => Readable): Source {
  let position = 0
  return {
    ...facts,
    position: () => position,
    async *read(onEarlyEnd) {
      const packed = open()
      async function* counted(): AsyncGenerator<Buffer> {
        for await (const part of packed as AsyncIterable<Buffer>) {
          position += part.length
          yield part
        }
      }
      try {
        yield* asUtf8(facts, unpack(counted()))
      } catch (error) {
        if (error instanceof StartError) throw error
        const { code, message } = error as NodeJS.ErrnoException
        const endsEarly = code === 'Z_BUF_ERROR' || /unexpected EOF/i.test(message)
        if (endsEarly && onEarlyEnd) return onEarlyEnd()
        throw new StartError(
          endsEarly
            ? `${facts.name} ends early: the archive is not complete. Copy the file again`
            : `${facts.name} cannot be read: ${code ?? message}`,
        )
      } finally {
        packed.destroy()
      }
    },
  }
}

/** Unpacks a gzip archive, which it detects by its first bytes, and passes other content through. */
export async function* unpackGzip(packed: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const { head, whole } = await beginningOf(packed)
  if (!isGzip(head)) yield* whole
  // An error of any stage ends the loop over the last stage.
  else yield* pipeline(whole, createGunzip({ chunkSize: 1 << 18 }), () => {})
}

/**
 * Unpacks gzip or Zstandard. Use it only for files of the operator: it unpacks in this process, and a few
 * bytes may expand to gigabytes.
 */
async function* unpack(packed: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const { head, whole } = await beginningOf(packed)
  const isZstandard = head.length >= 4 && head.readUInt32LE(0) === 0xfd2fb528
  yield* isZstandard ? unpackZstandard(whole) : unpackGzip(whole)
}

const isGzip = (head: Buffer): boolean => head.length >= 2 && head.readUInt16BE(0) === 0x1f8b

/** The first bytes, which identify archives, and the entire stream. */
async function beginningOf(
  packed: AsyncGenerator<Buffer>,
): Promise<{ head: Buffer; whole: AsyncGenerator<Buffer> }> {
  let head = Buffer.alloc(0)
  while (head.length < 4) {
    const { value, done } = await packed.next()
    if (done) break
    head = Buffer.concat([head, value])
  }
  async function* whole(): AsyncGenerator<Buffer> {
    if (head.length > 0) yield head
    yield* packed
  }
  return { head, whole: whole() }
}

/** The first bytes of files that are neither text nor an archive that this module unpacks. */
const otherFormats: readonly (readonly [begin: string, what: string])[] = [
  ['PK\x03\x04', 'a ZIP file or an Excel workbook. Unpack it, or save the workbook as CSV'],
  ['PAR1', 'a Parquet file. Set --format parquet'],
  ['BZh', 'a bzip2 archive. Unpack it'],
  ['\xfd7zXZ\0', 'an xz archive. Unpack it'],
  ["7z\xbc\xaf'\x1c", 'a 7-Zip archive. Unpack it'],
  ['Rar!', 'a RAR archive. Unpack it'],
  ['%PDF-', 'a PDF document. Export the data as CSV or JSON'],
  ['\xd0\xcf\x11\xe0', 'an Excel workbook. Save it as CSV'],
  ['SQLite format 3\0', 'a SQLite database. Export its tables as CSV'],
  ['Obj\x01', 'an Avro file. Export the data as NDJSON or Parquet'],
  ['PGDMP', 'a dump of PostgreSQL. Export the table as CSV with \\copy'],
]

/** Decodes UTF-16, which Matomo and Excel write, and passes UTF-8 on. Throws StartError for other kinds of files. */
async function* asUtf8(
  { name, format }: Pick<Source, 'name' | 'format'>,
  parts: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  const { head, whole } = await beginningOf(parts)
  if (format === 'parquet') return yield* whole
  const begin = head.toString('latin1')
  const other = otherFormats.find(([bytes]) => begin.startsWith(bytes))
  if (other) throw new StartError(`${name} is ${other[1]}`)
  const encoding = utf16Of(head)
  if (!encoding) return yield* whole
  const decoder = new TextDecoder(encoding)
  for await (const part of whole) yield Buffer.from(decoder.decode(part, { stream: true }))
  yield Buffer.from(decoder.decode())
}

/** UTF-16 by its byte order mark, or by the zero byte of a first ASCII character. */
function utf16Of(head: Buffer): 'utf-16le' | 'utf-16be' | null {
  const [first, second] = head
  if ((first === 0xff && second === 0xfe) || (second === 0 && first)) return 'utf-16le'
  if ((first === 0xfe && second === 0xff) || (first === 0 && second)) return 'utf-16be'
  return null
}

/** Node 20 has no support for Zstandard. */
async function* unpackZstandard(packed: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  let unpacked: Uint8Array[] = []
  const decompress = new Decompress((part) => unpacked.push(part))
  const take = () => {
    const taken = unpacked
    unpacked = []
    return taken.map((part) => Buffer.from(part.buffer, part.byteOffset, part.length))
  }
  for await (const part of packed) {
    decompress.push(part)
    yield* take()
  }
  decompress.push(new Uint8Array(0), true)
  yield* take()
}

const identifyingBytes = 65_536

/** Returns a file's size, and its identity: name, size, beginning and end. A pipe has neither; it is read once. */
async function identify(path: string): Promise<{ bytes: number | null; identity: string | null }> {
  // Opening a pipe and closing it would end its writer.
  const kind = await stat(path)
  if (kind.isDirectory()) throw new Error('it is a directory. Name the files in it')
  if (!kind.isFile()) return { bytes: null, identity: null }
  const file = await open(path)
  try {
    const { size } = kind
    const hash = createHash('sha256').update(`${basename(path)}\n${size}\n`)
    for (const from of [0, Math.max(0, size - identifyingBytes)]) {
      const { buffer, bytesRead } = await file.read(
        Buffer.alloc(identifyingBytes),
        0,
        identifyingBytes,
        from,
      )
      hash.update(buffer.subarray(0, bytesRead))
    }
    return { bytes: size, identity: hash.digest('hex') }
  } finally {
    await file.close()
  }
}
