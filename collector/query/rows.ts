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

/** Whole rows of an answer, ready to be sent. */
export interface Rows {
  readonly bytes: Buffer
  /** How many rows end in these bytes. */
  readonly records: number
}

/**
 * Passes the bytes of the first `rows` rows on, joined anew in place, without looking into them: whole rows only, so
 * that who sends them knows which were sent. What follows the last separator goes to `rest`; without one (the stream
 * held no further row) the last row only loses its newline. Throws when the stream ends before its last row.
 */
export async function* joinRows(
  chunks: AsyncIterable<Buffer>,
  { separator, joint, rows }: Joining,
  rest: Buffer[],
): AsyncGenerator<Rows> {
  let missing = rows
  let held: Buffer = none
  for await (const chunk of chunks) {
    if (missing === 0) {
      rest.push(chunk)
      continue
    }
    const bytes = held.length > 0 ? Buffer.concat([held, chunk]) : chunk
    const before = missing
    // The rows are moved together inside the bytes they came in: new memory for each page kept the garbage
    // collector busy for longer than all the rest took.
    let from = 0
    let to = 0
    for (let at = bytes.indexOf(separator); at !== -1; at = bytes.indexOf(separator, from)) {
      if (to !== from) bytes.copyWithin(to, from, at)
      to += at - from
      from = at + separator.length
      missing -= 1
      if (missing === 0) break
      to += joint.copy(bytes, to)
    }
    if (missing === 0) rest.push(bytes.subarray(from))
    else held = bytes.subarray(from)
    if (missing < before) yield { bytes: bytes.subarray(0, to), records: before - missing }
  }
  const endsWithLastRow = missing === 1 && held.at(-1) === 0x0a
  if (missing > 0 && !endsWithLastRow) throw new Error('The answer of ClickHouse ended before its last row')
  if (endsWithLastRow) yield { bytes: held.subarray(0, -1), records: 1 }
}
