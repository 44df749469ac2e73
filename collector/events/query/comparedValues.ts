import type { Filter } from './filter.ts'

/**
 * Returns the values that a filter compares with, each as a filter `eq`: two requests that differ only in such a value
 * differ in the rows that have it. `eq` and `like` have none besides themselves.
 */
export function comparedValues(filter: Filter): Filter[] {
  const { others = [], ...compared } = filter
  if (filter.op === 'eq' || filter.op === 'like') return []
  return [compared, ...others.map((value) => ({ ...compared, ...value }) as Filter)].map((one) => ({
    ...one,
    op: 'eq',
  }))
}
