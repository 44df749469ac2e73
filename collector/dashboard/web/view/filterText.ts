import { labelOfField, labelOfValue, operatorLabels } from './labels.ts'

const operand = '(?:event_data(?:\\.[^,:.]+)+|\\w+)'
/** As the API tells several filters apart: a comma before the next field:op: alone. */
const boundary = `,(?=${operand}:(?:${Object.keys(operatorLabels).join('|')}):)`

/** Several field:op:value with commas between them, each for itself. */
export const splitFilter = (filter: string): string[] => filter.split(new RegExp(boundary))

/** One field:op:value, or several with commas between them, as people read it. */
export const textOf = (filter: string): string => splitFilter(filter).map(textOfOne).join(' and ')

function textOfOne(filter: string): string {
  const [field = '', op = '', ...rest] = filter.split(':')
  const value = rest.join(':')
  const values = (op === 'in' ? value.split('|') : [value]).map((one) => labelOfValue(field, one))
  return `${labelOfField(field)} ${operatorLabels[op] ?? op} ${values.join(', ')}`
}

/**
 * The filter of what visitors have sent: pages and sources may hold anything. Where a comma in it would begin another
 * filter, it is `like` it, with any character in the comma's place.
 */
export function filterFor(field: string, value: string): string {
  const parts = value.split(new RegExp(boundary))
  if (parts.length === 1) return `${field}:eq:${value}`
  return `${field}:like:${parts.map((part) => part.replace(/[\\%_]/g, '\\$&')).join('_')}`
}
