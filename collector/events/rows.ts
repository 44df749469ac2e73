const none = Buffer.alloc(0)

/** How rows stand in a stream of bytes, and how they are to stand in the answer. */
export interface Joining {
  /** The bytes between two rows. They occur nowhere else. */
  readonly separator: Buffer
  /** What takes their place; not longer than the separator. */
  readonly joint: Buffer
  /** How many rows to deliver. */
  readonly rows: number
}

/**
 * Passes the bytes of the first `rows` rows on, joined anew in place, without looking into them. What follows the last
 * separator goes to `rest`; without one (the stream held no further row) the last row only loses its newline.
 * Throws when the stream ends before its last row.
 */
export async function* joinRows(
  chunks: AsyncIterable<Buffer>,
  { separator, joint, rows }: Joining,
  rest: Buffer[],
): AsyncGenerator<Buffer> {
  let missing = rows
  let held: Buffer = none
  for await (const chunk of chunks) {
    if (missing === 0) {
      rest.push(chunk)
      continue
    }
    const bytes = held.length > 0 ? Buffer.concat([held, chunk]) : chunk
    // The rows are moved together inside the bytes they came in: new memory for each page kept the garbage
    // collector busy for longer than all the rest took.
    let from = 0
    let to = 0
    const keepUntil = (end: number) => {
      if (to !== from) bytes.copyWithin(to, from, end)
      to += end - from
    }
    for (let at = bytes.indexOf(separator); at !== -1; at = bytes.indexOf(separator, from)) {
      keepUntil(at)
      from = at + separator.length
      missing -= 1
      if (missing === 0) break
      to += joint.copy(bytes, to)
    }
    if (missing === 0) {
      rest.push(bytes.subarray(from))
    } else {
      // The end of these bytes may be the beginning of a separator.
      const certain = Math.max(from, bytes.length - separator.length + 1)
      keepUntil(certain)
      held = bytes.subarray(certain)
    }
    if (to > 0) yield bytes.subarray(0, to)
  }
  const endsWithLastRow = missing === 1 && held.at(-1) === 0x0a
  if (missing > 0 && !endsWithLastRow) throw new Error('The answer of ClickHouse ended before its last row')
  if (endsWithLastRow) yield held.subarray(0, -1)
}

/** The bytes that were read to begin with, and all others after them. */
export async function* startingWith(first: Buffer, others: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield first
  yield* { [Symbol.asyncIterator]: () => others }
}
