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

/** As the API tells several filters apart: a comma before the next field:op: alone. */
const boundary = new RegExp(`,(?=[\\w.]+:(?:${Object.keys(signs).join('|')}):)`)

/** One field:op:value, or several with commas between them, as people read it. */
export const textOf = (filter: string): string => filter.split(boundary).map(textOfOne).join(' and ')

function textOfOne(filter: string): string {
  const [field = '', op = '', ...rest] = filter.split(':')
  const value = rest.join(':')
  return `${field} ${signs[op] ?? op} ${op === 'in' ? value.split('|').join(', ') : value}`
}
