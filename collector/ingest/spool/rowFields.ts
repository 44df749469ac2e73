/**
 * Reads the few members of an events line that shipping needs, at the places where
 * collector/ingest/normalize/eventRow.ts and Spool.append put them. Parsing the JSON would cost as much as
 * the insert.
 */

const idAt = '{"event_id":"'.length
const idLength = 36
const tsAt = idAt + idLength + '","ts_millis":'.length
const digitZero = 0x30
const comma = 0x2c
const dash = 0x2d
const newline = 0x0a

export function nextLineAt(payload: Buffer, start: number): number {
  const end = payload.indexOf(newline, start)
  return end === -1 ? payload.length : end + 1
}

/** Returns the lines of a payload, without copying; each ends with its newline. */
export function splitLines(payload: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let start = 0, next = 0; start < payload.length; start = next) {
    next = nextLineAt(payload, start)
    lines.push(payload.subarray(start, next))
  }
  return lines
}

/** Returns the event_id of a line, lower case. */
export const eventIdOf = (line: Buffer): string => line.toString('latin1', idAt, idAt + idLength)

/** Reads the event_id of the line at `start`, as its four 32-bit words. */
export function idWordsAt(payload: Buffer, start: number, words: Uint32Array): void {
  let word = 0
  let digits = 0
  for (let at = start + idAt; at < start + idAt + idLength; at++) {
    const code = payload[at]!
    if (code === dash) continue
    // Lower-case hexadecimal: '0' to '9' and 'a' to 'f'.
    word = (word << 4) | (code <= 0x39 ? code - digitZero : code - 0x57)
    if ((++digits & 7) === 0) words[(digits >> 3) - 1] = word
  }
}

/**
 * Returns the time in the id of a captured event (collector/ingest/normalize), epoch milliseconds by the
 * page's clock. NaN for an id that its sender chose. The id is given as its words.
 */
export const idMillis = (words: Uint32Array): number =>
  ((words[1]! >>> 12) & 0xf) === 8 ? words[0]! * 65_536 + (words[1]! >>> 16) : Number.NaN

/** Returns the ts_millis of the line at `start`. */
export function tsMillisAt(payload: Buffer, start: number): number {
  let value = 0
  let at = start + tsAt
  const isNegative = payload[at] === dash
  if (isNegative) at++
  for (; payload[at] !== comma && at < payload.length; at++)
    value = value * 10 + payload[at]! - digitZero
  return isNegative ? -value : value
}

/**
 * Returns received_at, ISO 8601 with milliseconds. The columns precede event_data, and no text in them can contain this
 * key with unescaped quotation marks.
 */
export const receivedAtOf = (line: Buffer): string => {
  const at = line.indexOf('"received_at":"') + '"received_at":"'.length
  return line.toString('latin1', at, at + 24)
}

/** Returns seq, the last member of every line. */
export function seqOf(line: Buffer): number {
  return Number.parseInt(line.toString('latin1', line.lastIndexOf('"seq":') + '"seq":'.length), 10)
}

/** Returns spool_id, the last but one member of every line. */
export const spoolIdOf = (line: Buffer): string => {
  const at = line.lastIndexOf('"spool_id":"') + '"spool_id":"'.length
  return line.toString('latin1', at, at + idLength)
}
