/**
 * Integers from 0 up to a limit, the same every time: a linear congruential generator (Numerical Recipes).
 */
export function seededNumbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
