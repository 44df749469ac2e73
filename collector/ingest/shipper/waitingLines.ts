import { splitLines } from '../spool/rowFields.ts'

/** Lines of a batch, by their index: one bit for each line of the batch. */
export interface LineSet {
  readonly bits: Uint8Array
  /** Lines of the batch. */
  readonly of: number
  /** Lines in the set. */
  readonly size: number
}

const noLines: LineSet = { bits: new Uint8Array(), of: 0, size: 0 }

/** Returns which lines of `payloads` are in `lists`. Each list has some of the lines, in their order. */
export function lineSetOf(
  payloads: readonly Buffer[],
  lists: readonly (readonly Buffer[])[],
): LineSet {
  if (lists.length === 0) return noLines
  const lines = payloads.flatMap(splitLines)
  const bits = new Uint8Array(Math.ceil(lines.length / 8))
  const queues = lists.map((list) => ({ lines: list, at: 0 }))
  let size = 0
  for (const [index, line] of lines.entries()) {
    // Each line has a spool_id and a seq of its own, so equal bytes are the same line.
    const queue = queues.find((each) => each.lines[each.at]?.equals(line))
    if (!queue) continue
    queue.at++
    size++
    bits[index >> 3]! |= 1 << (index & 7)
  }
  return { bits, of: lines.length, size }
}

/** Returns the lines of a set, or all lines if the batch no longer has the same number of them. */
export function linesIn(payloads: readonly Buffer[], { bits, of }: LineSet): Buffer[] {
  const lines = payloads.flatMap(splitLines)
  if (lines.length !== of) return lines
  return lines.filter((_, index) => (bits[index >> 3]! & (1 << (index & 7))) !== 0)
}
