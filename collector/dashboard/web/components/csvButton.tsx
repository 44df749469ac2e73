import { type Cell, csvOf } from '../csv.ts'
import { saveFile } from '../saveFile.ts'

/** A button that downloads a table as a CSV file; it requests `rows` on click. */
export function CsvButton({
  name,
  head,
  rows,
}: {
  name: string
  head: string[]
  rows(): Cell[][] | Promise<Cell[][]>
}) {
  const save = async () =>
    saveFile(
      `${name}.csv`,
      new Blob([csvOf(head, await rows())], { type: 'text/csv;charset=utf-8' }),
    )
  return (
    <button type="button" onClick={save}>
      CSV<span class="visually-hidden"> of {name}</span>
    </button>
  )
}
