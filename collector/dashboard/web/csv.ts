type Cell = string | number | null

/** What a spreadsheet would run as a formula. */
const formula = /^[=+\-@\t\r]/

function cellText(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const text = formula.test(cell) ? `'${cell}` : cell
  return `"${text.replaceAll('"', '""')}"`
}

/** Hands the reader a table as a CSV file (RFC 4180). */
export function downloadCsv(name: string, head: string[], rows: Cell[][]): void {
  const text = [head, ...rows].map((row) => `${row.map(cellText).join(',')}\r\n`).join('')
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${name}.csv`
  link.click()
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
