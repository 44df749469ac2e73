/** How many moments are remembered at most, while the shipper is behind. */
const momentsMax = 120

/** Until `mark`, a machine has written all its rows to the log, at `position` or earlier. */
interface Moment {
  mark: number
  position: number
}

/** Finds the time until which ClickHouse has all rows that a machine wrote to the log. */
export class ConsumedMark {
  #reached: number | null = null
  #moments: Moment[] = []

  note(mark: number, position: number): void {
    this.#moments.push({ mark, position })
    // Others may be forgotten, at the cost of precision only. The newest one stays.
    if (this.#moments.length > momentsMax)
      this.#moments = this.#moments.filter((_, at) => at % 2 === 1 || at > momentsMax - 2)
  }

  /** Returns the mark of the latest moment whose position is committed; null if none is. */
  read(committed: number): number | null {
    for (let next = this.#moments[0]; next && next.position <= committed; next = this.#moments[0]) {
      this.#reached = next.mark
      this.#moments.shift()
    }
    return this.#reached
  }
}
