/** Most values that are bound as one: ClickHouse takes 128 KiB for each. */
const chunkMax = 1_000

/** The values in pieces that can be bound; one empty piece of none. */
export function chunked<T>(values: readonly T[]): T[][] {
  const count = Math.max(1, Math.ceil(values.length / chunkMax))
  return Array.from({ length: count }, (_, index) =>
    values.slice(index * chunkMax, (index + 1) * chunkMax),
  )
}
