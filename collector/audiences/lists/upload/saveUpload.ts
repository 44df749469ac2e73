import { type FileHandle, open } from 'node:fs/promises'
import { ApiError, busy, malformed } from '../../../api/http/errors.ts'
import { countLines } from '../../../identity/load/records.ts'
import { unpackGzip } from '../../../identity/load/source.ts'
import { type ImportFile, recordBytesMax } from '../file/importFile.ts'
import type { FilePosition } from '../file/readChunk.ts'
import type { Kind } from '../kinds.ts'
import { findColumn, type Head, headOfItems } from './findColumn.ts'
import type { Body } from './readBody.ts'
import type { Uploads } from './uploads.ts'

/** Most bytes of a file, unpacked, and most lines. */
const fileBytesMax = 1024 ** 3
const fileLinesMax = 50_000_000
/** After this many bytes, the free space and the organization's share are checked again. */
const lookEveryBytes = 64 * 1024 ** 2
/** Lists expand 2 to 20 times; an archive of zeros, a thousand times. The first bytes may expand more. */
const ratioMax = 100
const ratioFromBytes = 16 * 1024 ** 2
/** Retry time if the disk is full. */
const retrySeconds = 60

export interface Upload {
  readonly organizationId: string
  readonly format: Body['format']
  readonly kind: Kind
  readonly column: string | undefined
  readonly bytes: AsyncIterable<Buffer>
}

export interface Saved {
  readonly collectorId: string
  readonly file: ImportFile
  readonly begin: FilePosition
}

/**
 * Writes an upload to the disk, unpacked, under the id of its import; after any failure no file remains.
 * `requireShare` throws if the organization has too many bytes on the disk; it is called again while the file grows.
 * Throws 400 like findColumn before it reads further, 413 "too_large", and 503 "busy" if the disk is full.
 * Also throws the error of an upload whose client disconnects.
 */
export async function saveUpload(
  uploads: Uploads,
  importId: string,
  upload: Upload,
  requireShare: () => Promise<void> = async () => {},
): Promise<Saved> {
  const arriving = { importId, organizationId: upload.organizationId }
  const requireRoom = async () => {
    if (!(await uploads.hasRoom())) throw noRoom()
    await requireShare()
  }
  await requireRoom()
  try {
    const handle = await open(uploads.partialPathOf(arriving), 'wx', 0o600)
    const saved = await write(handle, upload, requireRoom).finally(() => handle.close())
    await uploads.keep(arriving)
    return { ...saved, collectorId: uploads.collectorId }
  } catch (error) {
    await uploads.remove(importId)
    throw isDiskFull(error) ? noRoom() : error
  }
}

async function write(
  handle: FileHandle,
  upload: Upload,
  requireRoom: () => Promise<void>,
): Promise<Omit<Saved, 'collectorId'>> {
  let head = upload.format === 'items' ? headOfItems(upload.kind) : null
  let first = Buffer.alloc(0)
  let [bytes, lines, looked] = [0, 0, 0]
  for await (const part of unpacked(upload.bytes)) {
    bytes += part.length
    lines += countLines(part)
    if (bytes > fileBytesMax) throw tooLarge(`${fileBytesMax / 1024 ** 2} MiB, unpacked`)
    if (lines > fileLinesMax) throw tooLarge(`${fileLinesMax} lines`)
    if (head === null) {
      first = Buffer.concat([first, part])
      if (first.includes(0x0a) || first.length > recordBytesMax) head = headOf(first, upload)
    }
    await writeAll(handle, part)
    if (bytes - looked < lookEveryBytes) continue
    looked = bytes
    await requireRoom()
  }
  head ??= headOf(first, upload)
  await handle.datasync()
  return { file: { ...head.file, bytes }, begin: head.begin }
}

const headOf = (first: Buffer, { format, kind, column: columnName }: Upload): Head =>
  format === 'items' ? headOfItems(kind) : findColumn(first, { format, kind, columnName })

async function writeAll(handle: FileHandle, part: Buffer): Promise<void> {
  for (let at = 0; at < part.length; ) at += (await handle.write(part, at)).bytesWritten
}

/** Unpacks gzip, and passes other content through. Throws 413 for an archive that expands too much. */
async function* unpacked(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let [packed, whole] = [0, 0]
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const part of bytes) {
      packed += part.length
      yield part
    }
  }
  try {
    for await (const part of unpackGzip(counted())) {
      whole += part.length
      if (whole > ratioFromBytes && whole > ratioMax * packed)
        throw new ApiError(
          413,
          'too_large',
          `The archive expands to more than ${ratioMax} times its size. Send the file unpacked, or without repeated rows.`,
        )
      yield part
    }
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    throw code.startsWith('Z_') ? malformed('The archive is damaged or incomplete.') : error
  }
}

const isDiskFull = (error: unknown): boolean =>
  ['ENOSPC', 'EDQUOT', 'EFBIG'].includes((error as NodeJS.ErrnoException).code ?? '')

const noRoom = () =>
  busy('The disk of the service has no space for uploads now. Try again later.', retrySeconds)

const tooLarge = (limit: string) =>
  new ApiError(
    413,
    'too_large',
    `The file is larger than ${limit}. Split it and add the parts to one list.`,
  )
