import type { Field } from '../../../schemas/fields.ts'
import { operators } from '../../events/query/filter/filter.ts'
import { isIdentifying } from './identifyingFields.ts'

/** The operators of profile leaves: those of filters, and two that combine two filters in one leaf. */
export const profileOps = [...operators, 'between', 'is_set'] as const
export type ProfileOp = (typeof profileOps)[number]

/** JSON types of values; times are ISO 8601 texts. */
const jsonTypes = {
  Utf8: 'string',
  Timestamp: 'string',
  Int64: 'number',
  Float64: 'number',
  Boolean: 'boolean',
} as const

/**
 * Returns the operators of a field. Only texts match a pattern, booleans have no order, and identifying
 * fields support only a check for presence.
 */
export function opsOf(field: Field): readonly ProfileOp[] {
  const { dataType } = field
  if (isIdentifying(field)) return ['is_set']
  if (dataType === 'Boolean') return ['eq', 'ne', 'in', 'is_set']
  return dataType === 'Utf8' ? profileOps : profileOps.filter((op) => op !== 'like')
}

/** Returns the JSON type of a compared value; for `in` and `between`, that of each array item. */
export const valueTypeOf = ({ dataType }: Field) => jsonTypes[dataType]
