import { readFileSync, renameSync, writeFileSync } from 'node:fs'

/**
 * Remembers, beyond the end of a process, since when the servers run that have all committed batches. If they still run,
 * the next process need not search for the rows of these batches.
 */
export interface VerifiedStarts {
  /** The start time of each shard, seconds since 1970, as an earlier process noted it; null: unknown. */
  readonly before: readonly number[] | null
  /** Notes that the servers with these start times have all batches that are committed now. */
  note(starts: readonly number[]): void
}

/** Whether these are the same runs of the servers. ClickHouse rounds both times to the second. */
export const areSameRuns = (starts: readonly number[], others: readonly number[] | null): boolean =>
  starts.length === others?.length &&
  starts.every((start, shard) => Math.abs(start - others[shard]!) <= 1)

/** Remembers the starts in a file. */
export function verifiedStartsIn(path: string): VerifiedStarts {
  const before = readStarts(path)
  let noted: readonly number[] | null = before
  return {
    before,
    note(starts) {
      if (areSameRuns(starts, noted)) return
      writeFileSync(`${path}.draft`, JSON.stringify(starts), { mode: 0o600 })
      renameSync(`${path}.draft`, path)
      noted = starts
    },
  }
}

function readStarts(path: string): number[] | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    // A first start, or a file that a crash of the machine has cut.
    return null
  }
}
