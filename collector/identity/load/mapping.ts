import { StartError } from '../../platform/startError.ts'

/** Maps columns of a file to fields. */
export type Mapping = ReadonlyMap<string, string>

/**
 * Reads `column=field,…`. A column's name may contain anything, including commas and equals signs. A pair
 * ends where one of `fields` follows an equals sign and precedes a comma or the end. Throws StartError that
 * names the fault.
 */
export function readMapping(text: string, fields: readonly string[]): Mapping {
  const pair = new RegExp(`(.+?)=(${fields.join('|')})(?:,|$)`, 'sy')
  const mapping = new Map<string, string>()
  while (pair.lastIndex < text.length) {
    const from = pair.lastIndex
    const found = pair.exec(text)
    if (!found) {
      throw new StartError(
        `--map: "${text.slice(from)}" must begin with column=field. The fields are ${fields.join(', ')}`,
      )
    }
    const [, column, field] = found as unknown as [string, string, string]
    if (mapping.has(column)) throw new StartError(`--map: the column "${column}" is named twice`)
    mapping.set(column, field)
  }
  return mapping
}

export const formatMapping = (mapping: Mapping): string =>
  [...mapping].map(([column, field]) => `${column}=${field}`).join(',')

export interface Column {
  readonly column: string
  readonly field: string
}

/**
 * Returns the columns of a file to load: those of the mapping, and those with the name of a field. Throws
 * StartError for other columns, unless `ignoreUnknown`. Also throws for mapped columns that the file does not
 * have, and for a field with two columns.
 */
export function chooseColumns(
  present: readonly string[],
  {
    mapping,
    fields,
    ignoreUnknown,
  }: { mapping: Mapping; fields: readonly string[]; ignoreUnknown: boolean },
): Column[] {
  const fieldOf = (column: string) =>
    mapping.get(column) ?? (fields.includes(column) ? column : null)
  const missing = [...mapping.keys()].filter((column) => !present.includes(column))
  if (missing.length > 0) throw new StartError(`--map: there is no column ${quoted(missing)}`)
  const unknown = present.filter((column) => fieldOf(column) === null)
  if (unknown.length > 0 && !ignoreUnknown) {
    throw new StartError(
      `no field is named ${quoted(unknown)}. Map these columns with --map column=field, or skip them with --ignore-unknown`,
    )
  }
  const columns = present.flatMap((column) => {
    const field = fieldOf(column)
    return field === null ? [] : { column, field }
  })
  const twice = columns.find(
    ({ field }, index) => columns.findIndex((one) => one.field === field) < index,
  )
  if (twice)
    throw new StartError(`two columns map to ${twice.field}, one of them is "${twice.column}"`)
  return columns
}

const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ')
