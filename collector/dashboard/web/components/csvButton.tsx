import { type Cell, csvOf } from '../csv.ts'
import { saveFile } from '../saveFile.ts'

/** Hands the reader a table as a file of that name; `rows` is asked when it is pressed. */
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
