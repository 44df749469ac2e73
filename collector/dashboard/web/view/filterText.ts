import { labelOfField, labelOfValue, operatorLabels } from './labels.ts'

const operand = '(?:event_data(?:\\.[^,:.]+)+|\\w+)'
/** The API's separator of filters: a comma that precedes the next field:op:. */
const boundary = `,(?=${operand}:(?:${Object.keys(operatorLabels).join('|')}):)`

/** Several field:op:value with commas between them, each for itself. */
export const splitFilter = (filter: string): string[] => filter.split(new RegExp(boundary))

/** One field:op:value, or several with commas between them, as people read it. */
export const textOf = (filter: string): string => splitFilter(filter).map(textOfOne).join(' and ')

function textOfOne(filter: string): string {
  const [field = '', op = '', ...rest] = filter.split(':')
  const value = rest.join(':')
  const part = op === 'like' && /^%([^%_\\]+)%$/.exec(value)?.[1]
  if (part) return `${labelOfField(field)} contains ${part}`
  const values = (op === 'in' ? value.split('|') : [value]).map((one) => labelOfValue(field, one))
  return `${labelOfField(field)} ${operatorLabels[op] ?? op} ${values.join(', ')}`
}

/**
 * Returns a filter for a value that visitors sent, such as a page or source, with any content. If a comma in
 * it would begin another filter, the filter uses `like` with a wildcard in place of the comma.
 */
export function filterFor(field: string, value: string): string {
  const parts = value.split(new RegExp(boundary))
  if (parts.length === 1) return `${field}:eq:${value}`
  return `${field}:like:${parts.map((part) => part.replace(/[\\%_]/g, '\\$&')).join('_')}`
}
