import type { Field } from '../../../schemas/fields.ts'
import { operators } from '../../events/query/filter.ts'
import { isIdentifying } from './identifyingFields.ts'

/** The operators of profile leaves: those of filters, and two that say in one leaf what takes two filters. */
export const profileOps = [...operators, 'between', 'is_set'] as const
export type ProfileOp = (typeof profileOps)[number]

/** What values of a field are in JSON; texts of times are ISO 8601. */
const jsonTypes = {
  Utf8: 'string',
  Timestamp: 'string',
  Int64: 'number',
  Float64: 'number',
  Boolean: 'boolean',
} as const

/**
 * The operators that a field takes: only texts match a pattern, truth values have no order, and of what identifies a
 * person only whether it is there.
 */
export function opsOf(field: Field): readonly ProfileOp[] {
  const { dataType } = field
  if (isIdentifying(field)) return ['is_set']
  if (dataType === 'Boolean') return ['eq', 'ne', 'in', 'is_set']
  return dataType === 'Utf8' ? profileOps : profileOps.filter((op) => op !== 'like')
}

/** What a value that the field is compared with is in JSON; of `in` and `between` each of the array. */
export const valueTypeOf = ({ dataType }: Field) => jsonTypes[dataType]
