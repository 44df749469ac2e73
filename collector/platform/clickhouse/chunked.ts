/** Most values per bound array, because ClickHouse accepts 128 KiB for each. */
const chunkMax = 1_000

/** Splits values into arrays that can be bound; no values give one empty array. */
export function chunked<T>(values: readonly T[]): T[][] {
  const count = Math.max(1, Math.ceil(values.length / chunkMax))
  return Array.from({ length: count }, (_, index) =>
    values.slice(index * chunkMax, (index + 1) * chunkMax),
  )
}
