import type { Leaf, Parsed } from './definition.ts'

/** What these leaves say of a person is sold. */
const sold: readonly Leaf['kind'][] = ['profile', 'intent']

/**
 * Whether a definition may be of people whom somebody chose one by one: a list says who, and another audience may be of
 * a list.
 */
export const isOfChosenPeople = ({ leaves }: Pick<Parsed, 'leaves'>): boolean =>
  leaves.some(({ kind }) => kind === 'list' || kind === 'audience')

/**
 * Whether how many meet a definition is sold itself: of a list of one person, whether they meet a leaf is what is known
 * of them, and lists of any length can be filled with people of whom it is known. Reads that are charged tell it.
 */
export const countIsSold = (parsed: Pick<Parsed, 'leaves'>): boolean =>
  parsed.leaves.some(({ kind }) => kind === 'audience') ||
  (isOfChosenPeople(parsed) && parsed.leaves.some(({ kind }) => sold.includes(kind)))

/** The same of a definition in PostgreSQL. */
export const countIsSoldSql = (definition: string): string => {
  const has = (kind: Leaf['kind']) => `jsonb_path_exists(${definition}, '$.**.${kind}')`
  return `(${has('audience')} OR ${has('list')} AND (${sold.map(has).join(' OR ')}))`
}
