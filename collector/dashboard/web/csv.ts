import { saveFile } from './saveFile.ts'

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
  saveFile(`${name}.csv`, new Blob([text], { type: 'text/csv;charset=utf-8' }))
}
