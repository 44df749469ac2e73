/** How many moments are remembered at most, while the shippers are behind. */
const momentsMax = 120

interface Moment {
  mark: number
  /** The last position of each partition at that moment; 0: none. */
  positions: readonly number[]
}

/**
 * Finds the time until which all rows that a process has published are in ClickHouse. The process notes moments: until
 * `mark`, all its rows are at these positions or earlier. A moment is reached when the shippers have committed its
 * positions. Messages of other processes in between do not matter, and neither do partitions without its messages.
 */
export class ConsumedMark {
  #reached: number
  #moments: Moment[] = []

  /** `from`: no row is from before it. */
  constructor(from: number) {
    this.#reached = from
  }

  note(mark: number, positions: readonly number[]): void {
    this.#moments.push({ mark, positions: [...positions] })
    // The latest of all moments that need the same positions is the best one. Others may be forgotten, at the cost of
    // precision only.
    if (this.#moments.length > momentsMax)
      this.#moments = this.#moments.filter((_, at) => at % 2 === 1 || at > momentsMax - 2)
  }

  /** Returns the mark of the latest moment whose positions are committed. */
  read(committed: readonly number[]): number {
    const isReached = ({ positions }: Moment) =>
      positions.every((position, partition) => position <= (committed[partition] ?? 0))
    for (let next = this.#moments[0]; next && isReached(next); next = this.#moments[0]) {
      this.#reached = next.mark
      this.#moments.shift()
    }
    return this.#reached
  }
}
