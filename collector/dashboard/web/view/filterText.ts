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

/** field:op:value as people read it. */
export function textOf(filter: string): string {
  const [field = '', op = '', ...rest] = filter.split(':')
  const value = rest.join(':')
  return `${field} ${signs[op] ?? op} ${op === 'in' ? value.split('|').join(', ') : value}`
}
