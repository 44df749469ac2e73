/**
 * Reads the few members of an events line that shipping needs, at the places where collector/ingest/row.ts and
 * Spool.append put them; parsing the JSON would cost more than the insert.
 */

const idAt = '{"event_id":"'.length
const idLength = 36
const tsAt = idAt + idLength + '","ts_millis":'.length
const comma = 0x2c
const newline = 0x0a

/** The lines of a payload, without copying; each ends with its newline. */
export function splitLines(payload: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let start = 0; start < payload.length; ) {
    const end = payload.indexOf(newline, start) + 1
    lines.push(payload.subarray(start, end))
    start = end
  }
  return lines
}

export const eventIdOf = (line: Buffer): string => line.toString('latin1', idAt, idAt + idLength)

export function tsMillisOf(line: Buffer): number {
  return Number(line.toString('latin1', tsAt, line.indexOf(comma, tsAt)))
}

/** No text in the line can hold this with its quotes unescaped, so the first one found is the column. */
export function projectIdOf(line: Buffer): string {
  const at = line.indexOf('"project_id":"') + '"project_id":"'.length
  return line.toString('latin1', at, at + idLength)
}

/** The last member of every line. */
export function seqOf(line: Buffer): number {
  const at = line.lastIndexOf('"seq":') + '"seq":'.length
  return Number.parseInt(line.toString('latin1', at), 10)
}
