import { fieldNamed } from '../../../schemas/fields.ts'
import { chooseColumns, type Mapping } from '../../identity/load/mapping.ts'
import { StartError } from '../../platform/startError.ts'

export const importedColumns = [
  'event_id',
  'event_type',
  'timestamp',
  'ts_millis',
  'event_data',
  'cookie_id',
  'pixel_id',
  'project_id',
  'source',
  'page_url',
  'referrer_url',
  'title',
  'name',
  'properties',
  'screen_width',
  'screen_height',
  'viewport_width',
  'viewport_height',
  'client_ip',
  'user_agent',
  'browser',
  'browser_version',
  'os',
  'os_version',
  'device_type',
  'is_bot',
  'bot_reason',
  'country',
  'region',
  'city',
  'language',
] as const

export type ImportedColumn = (typeof importedColumns)[number]

/** A row of a file, by names of imported columns. CSV values are texts; empty ones are absent. */
export type ImportedRow = Partial<Record<ImportedColumn, unknown>> & {
  /** What distinguishes an event without `event_id` in another product. */
  identity?: readonly unknown[]
  /** `event_data` with its long integers marked (exactNumbers.ts), if it has any. */
  exactData?: unknown
}

const imported = new Set<string>(importedColumns)

/** Fields that Footfall computes itself. Files exported by its API contain them; the import ignores them. */
const isComputed = (column: string): boolean =>
  !imported.has(column) && fieldNamed(column) !== undefined

export interface ColumnOptions {
  readonly mapping: Mapping
  readonly ignoreUnknown: boolean
}

/** Maps the columns of a header to imported columns. Throws StartError for an unknown column. */
export function columnsOfHeader(
  present: readonly string[],
  { mapping, ignoreUnknown }: ColumnOptions,
): Map<string, ImportedColumn> {
  if (new Set(present).size < present.length)
    throw new StartError('two columns have the same name; rename one of them')
  const chosen = chooseColumns(
    present.filter((column) => mapping.has(column) || !isComputed(column)),
    { mapping, fields: importedColumns, ignoreUnknown },
  )
  return new Map(chosen.map(({ column, field }) => [column, field as ImportedColumn]))
}

/** Finds the imported column for a member of a JSON line: null for ignored members, undefined for unknown ones. */
export function createColumnOfKey({ mapping, ignoreUnknown }: ColumnOptions) {
  const known = new Map<string, ImportedColumn | null>()
  const mapped = new Set(mapping.values())
  for (const column of importedColumns) if (!mapped.has(column)) known.set(column, column)
  for (const [column, field] of mapping) known.set(column, field as ImportedColumn)
  return (key: string): ImportedColumn | null | undefined => {
    const column = known.get(key)
    if (column !== undefined) return column
    return ignoreUnknown || isComputed(key) ? null : undefined
  }
}
