import type { Parsed, Tree } from '../definition/definition.ts'

/**
 * Returns how many people a definition names at most, by lists and audiences. It is Infinity if its people need not be in
 * any. `sizeOf` is the number of people of a leaf, Infinity for leaves of other kinds.
 *
 * Example: `{ all: [{ list: 7 people }, { profile }] }` describes at most 7.
 */
export function namedPeople(
  { include, leaves }: Pick<Parsed, 'include' | 'leaves'>,
  sizeOf: (leaf: Parsed['leaves'][number]) => number,
): number {
  const peopleMaxOf = (tree: Tree): number => {
    if ('leaf' in tree) return sizeOf(leaves[tree.leaf]!)
    if ('not' in tree) return Number.POSITIVE_INFINITY
    return 'all' in tree
      ? Math.min(...tree.all.map(peopleMaxOf))
      : tree.any.reduce((sum, one) => sum + peopleMaxOf(one), 0)
  }
  return peopleMaxOf(include)
}
