import type { Filter } from './filter.ts'

/** Whether a filter compares with its values for equality, so all rows that it finds or omits have one of them. */
export const comparesValues = ({ op }: Filter): boolean => op === 'eq' || op === 'ne' || op === 'in'

/**
 * Returns the values that a filter `in` or `ne` compares with, each as a filter `eq`. Two requests that differ only in
 * such a value differ in the rows that have it. For other filters there is nothing to return.
 */
export function comparedValues(filter: Filter): Filter[] {
  const { others = [], ...compared } = filter
  if (filter.op !== 'in' && filter.op !== 'ne') return []
  return [compared, ...others.map((value) => ({ ...compared, ...value }) as Filter)].map((one) => ({
    ...one,
    op: 'eq',
  }))
}
