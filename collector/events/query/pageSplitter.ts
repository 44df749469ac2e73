/** Splits the rows of one query into pages, each of which is complete in memory before anybody is charged for it. */
import type { Delivery } from '../../billing/charge.ts'
import { detachBuffer } from '../../platform/detachBuffer.ts'
import type { RowKey } from './cursor.ts'
import type { Order } from './order.ts'
import { keyOfRow, pieceBytesDefault } from './rowEncoding.ts'

/** A page of several in one answer. */
export interface GatheredPage {
  readonly records: number
  /** Whether a row follows the page. */
  readonly hasMore: boolean
  /** Whether it has as many rows, or as many bytes, as a page may have. */
  readonly isFull: boolean
  /** The key of its last row; null without rows. */
  readonly last: RowKey | null
  /** The rows, separated by commas. They are valid until the page after the next one is requested. */
  readonly rows: readonly Delivery[]
}

/** A page of large events ends after so many bytes, because memory holds all of it. */
const pageBytesDefault = 64 * 1024 ** 2

/** How large a page becomes, in rows and in bytes. */
interface PageSize {
  readonly limit: number
  readonly bytesMax: number
}

const newline = 0x0a
const comma = 0x2c
const brace = 0x7b

/** The bytes of a page, and those after it that have arrived already. Its memory is used again. */
class PageBuffer {
  #bytes = Buffer.allocUnsafeSlow(0)
  #length = 0
  /** The bytes before this position are complete rows of the page. */
  #scanned = 0
  #lastRow = 0
  #pieces: { end: number; records: number }[] = []
  records = 0

  add(chunk: Buffer): void {
    if (this.#length + chunk.length > this.#bytes.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (this.#length + chunk.length))
      this.#bytes.copy(larger, 0, 0, this.#length)
      this.#bytes = larger
    }
    chunk.copy(this.#bytes, this.#length)
    this.#length += chunk.length
  }

  isFull({ limit, bytesMax }: PageSize): boolean {
    return this.records >= limit || this.#scanned >= bytesMax
  }

  /** Counts complete rows until the page is full, and separates them as in a JSON array. */
  scan(size: PageSize): void {
    const bytes = this.#bytes.subarray(0, this.#length)
    while (!this.isFull(size)) {
      const end = bytes.indexOf(newline, this.#scanned)
      if (end === -1) return
      // A template without rows is an empty line.
      if (end > this.#scanned) this.#endRow(end)
      this.#scanned = end + 1
    }
  }

  #endRow(end: number): void {
    if (this.#bytes[this.#scanned] !== brace)
      throw new Error('The response of ClickHouse broke off within its rows')
    this.#bytes[end] = comma
    this.#lastRow = this.#scanned
    this.records++
    const piece = this.#pieces.at(-1)
    const begin = this.#pieces.at(-2)?.end ?? 0
    if (piece && piece.end - begin < pieceBytesDefault) {
      piece.end = end + 1
      piece.records++
    } else this.#pieces.push({ end: end + 1, records: 1 })
  }

  /** The bytes after the page. */
  get rest(): Buffer {
    return this.#bytes.subarray(this.#scanned, this.#length)
  }

  page(order: Order, size: PageSize, hasMore: boolean): GatheredPage {
    const rows = this.#pieces.map(({ end, records }, at) => {
      const isLast = at === this.#pieces.length - 1
      const begin = this.#pieces[at - 1]?.end ?? 0
      return { bytes: this.#bytes.subarray(begin, isLast ? end - 1 : end), records }
    })
    const last =
      this.records === 0
        ? null
        : keyOfRow(this.#bytes.subarray(this.#lastRow, this.#scanned - 1), order)
    return { records: this.records, hasMore, isFull: this.isFull(size), last, rows }
  }

  /** Begins the next page with the bytes after the previous one. */
  begin(rest: Buffer): void {
    this.#length = 0
    this.#scanned = 0
    this.#pieces = []
    this.records = 0
    this.add(rest)
  }
}

/**
 * Yields the pages of a query, each with at most `limit` rows, and fewer if they have `bytesMax` bytes. The query returns
 * lines of JSON, whose columns contain the key, and one row more than all its pages. Throws when the response ends early;
 * a page is then never incomplete.
 */
export async function* splitPages(
  chunks: AsyncIterable<Buffer>,
  {
    limit,
    pages,
    order,
    bytesMax = pageBytesDefault,
  }: { limit: number; pages: number; order: Order; bytesMax?: number },
): AsyncGenerator<GatheredPage> {
  const size = { limit, bytesMax }
  let [current, other] = [new PageBuffer(), new PageBuffer()]
  let left = pages
  for await (const chunk of chunks) {
    current.add(chunk)
    detachBuffer(chunk)
    current.scan(size)
    while (current.isFull(size) && current.rest[0] === brace) {
      yield current.page(order, size, true)
      if (--left === 0) return
      other.begin(current.rest)
      ;[current, other] = [other, current]
      current.scan(size)
    }
  }
  if (current.rest.length > 0)
    throw new Error('The response of ClickHouse ended before its last row')
  yield current.page(order, size, false)
}
