import { StartError } from '../../platform/startError.ts'
import { countLines, endOfLastRecord, endOfRecord, openQuote } from './records.ts'
import type { Source } from './source.ts'

/** Complete records of a file that are inserted together. */
export interface Chunk {
  readonly bytes: Buffer
  /** Number of lines of the file before the chunk. */
  readonly lines: number
  /** Whether the file ends within a record of this chunk: a quoted text, or a value of JSON. */
  readonly isTorn: boolean
  /** The end of the chunk: bytes (unpacked) and lines from the file's beginning. */
  readonly end: { readonly bytes: number; readonly lines: number }
}

/** Large enough for an efficient part of ClickHouse, with little memory. */
const chunkBytesDefault = 32 * 1024 * 1024
/** A Parquet file ends with its metadata, so it is read completely. */
const parquetBytesMax = 2 ** 31

/** A file's records, and for CSV its header. */
export interface Records {
  readonly header: Buffer | null
  chunks: AsyncGenerator<Chunk>
}

/**
 * Reads a file's records from the end of an earlier read. Throws StartError. With `onEarlyEnd`, an archive that ends
 * early has the complete records before its end.
 */
export async function openChunkReader(
  source: Source,
  from: { bytes: number; lines: number },
  chunkBytes = chunkBytesDefault,
  onEarlyEnd?: () => void,
): Promise<Records> {
  let endsEarly = false
  const note = () => {
    endsEarly = true
    onEarlyEnd!()
  }
  const isCutOff = () => endsEarly
  const parts = withoutByteOrderMark(source.read(onEarlyEnd && note))
  if (source.format === 'parquet') return { header: null, chunks: oneChunk(source, parts) }
  if (source.format === 'ndjson')
    return {
      header: null,
      chunks: cut(source, parts, { begin: { bytes: 0, lines: 0 }, from, chunkBytes, isCutOff }),
    }
  const { header, rest } = await takeHeader(source, parts)
  const begin = { bytes: header.length, lines: countLines(header) }
  return {
    header,
    chunks: cut(source, rest, {
      begin,
      from: from.bytes === 0 ? begin : from,
      chunkBytes,
      isCutOff,
    }),
  }
}

async function takeHeader(
  source: Source,
  parts: AsyncGenerator<Buffer>,
): Promise<{ header: Buffer; rest: AsyncGenerator<Buffer> }> {
  let head = Buffer.alloc(0)
  for (;;) {
    const { value, done } = await parts.next()
    if (!done) head = Buffer.concat([head, value])
    const found = endOfRecord(head, 'csv')
    const end = done && found < 0 ? head.length : found
    if (end > 0) {
      const [header, first] = [head.subarray(0, end), head.subarray(end)]
      return {
        header,
        rest: (async function* () {
          yield first
          if (!done) yield* parts
        })(),
      }
    }
    if (done || head.length > chunkBytesDefault)
      throw new StartError(`${source.name} has no header line`)
  }
}

interface Cut {
  /** Where the first record begins. */
  readonly begin: { readonly bytes: number; readonly lines: number }
  readonly from: { readonly bytes: number; readonly lines: number }
  readonly chunkBytes: number
  /** Whether the read bytes end within a record, because the archive ended early. */
  isCutOff(): boolean
}

async function* cut(
  source: Source,
  parts: AsyncGenerator<Buffer>,
  { begin, from, chunkBytes, isCutOff }: Cut,
): AsyncGenerator<Chunk> {
  let toSkip = from.bytes - begin.bytes
  let { bytes: at, lines } = from
  let waiting: Buffer[] = []
  let length = 0
  const chunkOf = (bytes: Buffer, isTorn: boolean): Chunk => {
    const before = lines
    at += bytes.length
    lines += countLines(bytes)
    return { bytes, lines: before, isTorn, end: { bytes: at, lines } }
  }
  for await (const whole of parts) {
    const part = whole.subarray(Math.min(toSkip, whole.length))
    toSkip -= whole.length - part.length
    waiting.push(part)
    length += part.length
    if (length < chunkBytes) continue
    const bytes = Buffer.concat(waiting)
    const end = endOfLastRecord(bytes, source.format)
    if (end === 0) {
      throw new StartError(
        `${source.name}, line ${lines + 1}: longer than ${chunkBytes >> 20} MB. Check for a quote that is not closed`,
      )
    }
    yield chunkOf(bytes.subarray(0, end), false)
    waiting = [bytes.subarray(end)]
    length = bytes.length - end
  }
  if (length > 0) {
    const bytes = Buffer.concat(waiting)
    const last = endOfLastRecord(bytes, source.format)
    if (!isCutOff()) yield chunkOf(bytes, isTorn(bytes.subarray(last), source.format))
    else if (last > 0) yield chunkOf(bytes.subarray(0, last), false)
  }
}

/** Whether a file's last bytes, which no line break ends, are not a complete record. */
function isTorn(bytes: Buffer, format: Source['format']): boolean {
  if (format === 'csv') return endOfRecord(bytes, format) === openQuote
  const text = bytes.toString().trim()
  if (!text.startsWith('{')) return false
  try {
    JSON.parse(text)
    return false
  } catch {
    return true
  }
}

async function* oneChunk(source: Source, parts: AsyncGenerator<Buffer>): AsyncGenerator<Chunk> {
  const all: Buffer[] = []
  let length = 0
  for await (const part of parts) {
    all.push(part)
    length += part.length
    if (length > parquetBytesMax)
      throw new StartError(`${source.name}: split Parquet files larger than 2 GiB`)
  }
  yield { bytes: Buffer.concat(all), lines: 0, isTorn: false, end: { bytes: length, lines: 0 } }
}

async function* withoutByteOrderMark(parts: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const { value, done } = await parts.next()
  if (done) return
  yield value.length >= 3 && value.readUIntBE(0, 3) === 0xefbbbf ? value.subarray(3) : value
  yield* parts
}
