const signs: Record<string, string> = {
  eq: 'is',
  ne: 'is not',
  in: 'is one of',
  like: 'is like',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
}

const operand = '(?:event_data(?:\\.[^,:.]+)+|\\w+)'
/** As the API tells several filters apart: a comma before the next field:op: alone. */
const boundary = `,(?=${operand}:(?:${Object.keys(signs).join('|')}):)`

/** One field:op:value, or several with commas between them, as people read it. */
export const textOf = (filter: string): string =>
  filter.split(new RegExp(boundary)).map(textOfOne).join(' and ')

function textOfOne(filter: string): string {
  const [field = '', op = '', ...rest] = filter.split(':')
  const value = rest.join(':')
  return `${field} ${signs[op] ?? op} ${op === 'in' ? value.split('|').join(', ') : value}`
}

/**
 * The filter of what visitors have sent: pages and sources may hold anything. Where a comma in it would begin another
 * filter, it is `like` it, with any character in the comma's place.
 */
export function filterFor(field: string, value: string): string {
  const commas = new RegExp(boundary, 'g')
  if (!commas.test(value)) return `${field}:eq:${value}`
  return `${field}:like:${value.replace(/[\\%_]/g, '\\$&').replace(commas, '_')}`
}
