/** Names and values, one a line, aligned; records within go on one line. */
export function formatTable(values: object): string {
  const entries = Object.entries(values)
  const width = Math.max(...entries.map(([name]) => name.length))
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${inOneLine(value)}`).join('\n')
}

function inOneLine(value: unknown): string {
  if (Array.isArray(value)) return value.length > 0 ? value.map(inOneLine).join('; ') : '-'
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value)
      .map(([name, inner]) => `${name} ${inOneLine(inner)}`)
      .join(', ')
  }
  return typeof value === 'number' && !Number.isInteger(value)
    ? value.toFixed(2)
    : String(value ?? '-')
}
