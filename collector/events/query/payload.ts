import type { Bind } from './bind.ts'
import type { Filter } from './filter.ts'

/** SQL of the value in event_data at a path, as a nullable text or number. */
export type Payload = (path: readonly string[], as: 'String' | 'Float64') => string

/**
 * Returns how these filters read event_data. A single filter extracts its value from the text. Several
 * filters parse each object on their paths once for a row, because ClickHouse computes equal expressions
 * once.
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
