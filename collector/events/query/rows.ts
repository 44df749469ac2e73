import { giveBack } from '../../platform/giveBack.ts'

/** How rows stand in a stream of bytes, and how they are to stand in the answer. */
export interface Joining {
  /** The bytes between two rows. They occur nowhere else. */
  readonly separator: Buffer
  /** What takes their place; not longer than the separator. */
  readonly joint: Buffer
  /** How many rows to deliver. */
  readonly rows: number
  /** From how many bytes on they are passed on; default 256 KiB. */
  readonly pieceBytes?: number
}

/**
 * A socket gives 64 KiB at a time. Passed on like that, each was a chunk of HTTP for the rows inside it and one for the
 * row across its end, which the client had to take apart again: that took it more time than all the bytes did.
 */
const pieceBytesDefault = 256 * 1024

/** Whole rows of an answer, ready to be sent. */
export interface Rows {
  readonly bytes: Buffer
  /** How many rows end in these bytes. */
  readonly records: number
}

/**
 * Passes the bytes of the first `rows` rows on, joined anew, without looking into them: whole rows only, so that who
 * sends them knows which were sent. What was passed on is no more once the next is asked for. What follows the last
 * separator goes to `rest`; without one (the stream held no further row) the last row only loses its newline. Throws
 * when the stream ends before its last row.
 */
export async function* joinRows(
  chunks: AsyncIterable<Buffer>,
  { separator, joint, rows, pieceBytes = pieceBytesDefault }: Joining,
  rest: Buffer[],
): AsyncGenerator<Rows> {
  let missing = rows
  // One memory for all pieces: new one for each kept the garbage collector busy for longer than all the rest took.
  let gathered = Buffer.allocUnsafeSlow(0)
  let length = 0
  let enough = pieceBytes

  const gather = (chunk: Buffer) => {
    if (length + chunk.length > gathered.length) {
      const larger = Buffer.allocUnsafeSlow(2 * (length + chunk.length))
      gathered.copy(larger, 0, 0, length)
      gathered = larger
    }
    chunk.copy(gathered, length)
    length += chunk.length
    giveBack(chunk)
  }
  /**
   * Joins the whole rows that were gathered, where they are. What follows them begins at `end`: of a row that is not
   * whole yet, or of none of ours.
   */
  const join = () => {
    const bytes = gathered.subarray(0, length)
    const before = missing
    let from = 0
    let to = 0
    for (let at = bytes.indexOf(separator); at !== -1; at = bytes.indexOf(separator, from)) {
      if (to !== from) bytes.copyWithin(to, from, at)
      to += at - from
      from = at + separator.length
      missing -= 1
      if (missing === 0) break
      // A few bytes: Buffer's own copy takes longer to check what it is given.
      for (let i = 0; i < joint.length; i++) bytes[to++] = joint[i]!
    }
    if (missing === 0) rest.push(Buffer.from(bytes.subarray(from)))
    return { end: from, piece: { bytes: bytes.subarray(0, to), records: before - missing } }
  }

  for await (const chunk of chunks) {
    if (missing === 0) {
      rest.push(chunk)
      continue
    }
    gather(chunk)
    if (length < enough) continue
    const { end, piece } = join()
    if (piece.records > 0) yield piece
    gathered.copyWithin(0, end, length)
    length -= end
    // A row that is longer than a piece is not looked through again for each chunk of it.
    enough = Math.max(pieceBytes, 2 * length)
  }
  if (missing > 0) {
    const { end, piece } = join()
    if (piece.records > 0) yield piece
    const left = gathered.subarray(end, length)
    const endsWithLastRow = missing === 1 && left.at(-1) === 0x0a
    if (missing > 0 && !endsWithLastRow)
      throw new Error('The answer of ClickHouse ended before its last row')
    if (endsWithLastRow) yield { bytes: left.subarray(0, -1), records: 1 }
  }
}
