import { filterFor, splitFilter } from './filterText.ts'

/** The comparison of a condition: any of several values, none of them, a part of the text, or an order. */
export type ConditionOp = 'is' | 'isNot' | 'contains' | 'like' | 'gt' | 'gte' | 'lt' | 'lte'

/** A row of the condition builder. */
export interface Condition {
  /** The API's name, such as event_data.properties.plan. */
  field: string
  op: ConditionOp
  values: readonly string[]
}

export const conditionOps: Readonly<Record<ConditionOp, string>> = {
  is: 'is',
  isNot: 'is not',
  contains: 'contains',
  like: 'matches the pattern',
  gt: 'is more than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
}

const escaped = (text: string): string => text.replace(/[\\%_]/g, '\\$&')
const unescaped = (text: string): string => text.replace(/\\([\\%_])/g, '$1')

/** Returns the filters of a condition, each field:op:value; none without a value. */
export function filtersOf({ field, op, values }: Condition): string[] {
  const [first] = values
  if (field === '' || first === undefined) return []
  switch (op) {
    case 'is':
      return values.length === 1 ? [filterFor(field, first)] : [`${field}:in:${values.join('|')}`]
    case 'isNot':
      return values.map((value) => `${field}:ne:${value}`)
    case 'contains':
      return [`${field}:like:%${escaped(first)}%`]
    default:
      return [`${field}:${op}:${first}`]
  }
}

/** Formats conditions as the API expects them. */
export const textOfConditions = (conditions: readonly Condition[]): string =>
  conditions.flatMap(filtersOf).join(',')

/** Parses the conditions of a text; null if the builder cannot show them. */
export function readConditions(text: string): Condition[] | null {
  const conditions: Condition[] = []
  for (const filter of text === '' ? [] : splitFilter(text)) {
    const [field = '', op = '', ...rest] = filter.split(':')
    const condition = readCondition(field, op, rest.join(':'))
    if (!condition) return null
    const last = conditions.at(-1)
    const joins = last?.op === 'isNot' && condition.op === 'isNot' && last.field === field
    if (joins) last.values = [...last.values, ...condition.values]
    else conditions.push(condition)
  }
  return conditions
}

function readCondition(field: string, op: string, value: string): Condition | null {
  switch (op) {
    case 'eq':
      return { field, op: 'is', values: [value] }
    case 'in':
      return { field, op: 'is', values: value.split('|') }
    case 'ne':
      return { field, op: 'isNot', values: [value] }
    case 'like': {
      const part = /^%((?:[^\\%_]|\\[\\%_])+)%$/.exec(value)?.[1]
      return part === undefined
        ? { field, op: 'like', values: [value] }
        : { field, op: 'contains', values: [unescaped(part)] }
    }
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return { field, op, values: [value] }
    default:
      return null
  }
}
