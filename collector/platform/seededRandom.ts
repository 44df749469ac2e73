/** Random numbers that are the same for the same seed on every machine. */
export interface Random {
  /** Returns a number from 0 to less than 1. */
  next(): number
  /** Returns a whole number from `least` to `most`, both included. */
  integer(least: number, most: number): number
  chance(probability: number): boolean
  pick<T>(values: readonly T[]): T
  /** Returns a valid version 4 UUID. */
  uuid(): string
}

/** mulberry32 (Tommy Ettinger, public domain): 32 bits of state, good enough for sample data. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const integer = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick: (values) => values[integer(0, values.length - 1)]!,
    uuid: () =>
      'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (letter) =>
        (letter === 'x' ? integer(0, 15) : integer(8, 11)).toString(16),
      ),
  }
}
