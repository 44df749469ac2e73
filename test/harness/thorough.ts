/**
 * Whether tests with random or many similar cases run all of them. The slow tier does, in every file that imports this
 * one; `npm test` runs a sample.
 */
export const isThorough = process.env.TEST_THOROUGH === 'true'

/** The number of random cases in fast-check's form. */
export const randomRuns = (few: number, many: number): { numRuns: number } => ({
  numRuns: isThorough ? many : few,
})
