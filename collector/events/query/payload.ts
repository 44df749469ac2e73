import type { Bind } from './bind.ts'
import type { Filter } from './filter.ts'

/** SQL of what stands in event_data at a path, as a nullable text or number. */
export type Payload = (path: readonly string[], as: 'String' | 'Float64') => string

/**
 * How these filters reach into event_data. One of them takes its value out of the text. Where there are several, each
 * object on their paths is taken apart once for a row, and not once for each filter: ClickHouse computes equal
 * expressions once.
 */
export function payloadOf(filters: readonly Filter[], bind: Bind): Payload {
  const intoPayload = filters.filter(({ path }) => path !== undefined)
  if (intoPayload.length < 2) {
    return (path, as) => {
      const segments = path.map((segment) => bind('String', segment)).join(', ')
      return `JSONExtract(event_data, ${segments}, 'Nullable(${as})')`
    }
  }
  const placeholders = new Map<string, string>()
  const bound = (segment: string) => {
    const placeholder = placeholders.get(segment) ?? bind('String', segment)
    placeholders.set(segment, placeholder)
    return placeholder
  }
  return (path, as) => {
    const text = path.reduce(
      (object, segment) =>
        `CAST(JSONExtractKeysAndValuesRaw(${object}), 'Map(String, String)')[${bound(segment)}]`,
      'event_data',
    )
    return `JSONExtract(${text}, 'Nullable(${as})')`
  }
}
