export type Cell = string | number | null

/** Texts that a spreadsheet would run as a formula (OWASP: CSV Injection), including full-width signs. */
const formula = /^[=+\-@＝＋－＠\t\r\n]/

function cellText(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const text = formula.test(cell) ? `'${cell}` : cell
  return `"${text.replaceAll('"', '""')}"`
}

/** A table as CSV (RFC 4180), of which no spreadsheet runs anything. */
export const csvOf = (head: string[], rows: Cell[][]): string =>
  [head, ...rows].map((row) => `${row.map(cellText).join(',')}\r\n`).join('')
