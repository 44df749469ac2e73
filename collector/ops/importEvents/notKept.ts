import { isObject } from '../../platform/json.ts'
import { known } from './products/names.ts'
import type { ProductRecord } from './products/product.ts'

/** The fields of a product's records that have values and are not imported, with the numbers of these records. */
export type NotKept = ReadonlyMap<string, number>

/** Other fields count as one, because records may have any names. */
const namesMax = 200

/** Returns the counts, and the function that counts the fields of a record. `fields` are those that are imported. */
export function createNotKept(fields: readonly string[]): {
  counts: NotKept
  count(record: ProductRecord): void
} {
  const kept = new Set(fields)
  const parents = new Set(fields.flatMap((field) => field.match(/^(.+)\./)?.slice(1) ?? []))
  const counts = new Map<string, number>()
  const find = (record: ProductRecord, prefix: string, found: Set<string>): void => {
    for (const name in record) {
      const path = prefix + name
      const value = record[name]
      if (kept.has(path) || !hasValue(value)) continue
      if (!parents.has(path)) found.add(path)
      else for (const part of [value].flat()) if (isObject(part)) find(part, `${path}.`, found)
    }
  }
  return {
    counts,
    count(record) {
      const found = new Set<string>()
      find(record, '', found)
      for (const path of found) {
        const name = counts.has(path) || counts.size < namesMax ? path : 'other fields'
        counts.set(name, (counts.get(name) ?? 0) + 1)
      }
    },
  }
}

function hasValue(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasValue)
  if (isObject(value)) return Object.values(value).some(hasValue)
  return typeof value === 'string'
    ? known(value) !== undefined
    : value !== null && value !== undefined
}
