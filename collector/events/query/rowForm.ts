import { type Field, isProfileField } from '../../../schemas/fields.ts'
import { type Format, isTable } from '../../api/http/negotiateFormat.ts'
import { isFew, memberColumns } from '../../identity/store/profileSql.ts'
import type { TextForm } from '../../identity/store/profileTexts.ts'
import type { NamedFormat, OutputFormat } from '../../platform/clickhouse/client.ts'
import type { EventsPlan } from './selection.ts'

/** The name of the extra first column of rows that lead with the next page's key. No field is called so. */
export const nextColumn = '_next'

/** What rows have besides their events' own columns. */
export interface RowForm {
  /**
   * Each row begins with the column `_next`: the key of the last row of all, as `(milliseconds,'event_id')`. It is the
   * same in every row, so it is known when the first bytes arrive, and costs about a fifth more.
   */
  readonly leadsWithNext: boolean
  /**
   * How profiles come: each field as a column; as the ready members that end a row's JSON object, which must be all of
   * the tier's; or those that follow one another as one text, in JSON or CSV.
   */
  readonly profiles: 'columns' | 'members' | TextForm
  /** What ready members of nobody are; see profileMembers. */
  readonly membersOfNobody?: 'empty' | 'null'
  /** Texts that a spreadsheet would run have an apostrophe in front: of CSV. */
  readonly escapesFormulas?: boolean
  /** Columns are typed, as typedColumns has them, profiles among them. */
  readonly isTyped?: boolean
  /** All events are on the server that is asked. */
  readonly isOfOneServer?: boolean
}

type Columns = Pick<EventsPlan, 'columns' | 'hasAllColumns' | 'escapesFormulas'>

/** How rows of a plan leave ClickHouse for an answer of a format. */
export const rowForm = (
  plan: Columns,
  format: Format,
  leadsWithNext: boolean,
  isOfOneServer = false,
): RowForm => ({
  leadsWithNext,
  isOfOneServer,
  profiles: profileForm(plan, format),
  escapesFormulas: format === 'csv' && plan.escapesFormulas === true,
  isTyped: isTable(format),
})

function profileForm({ columns, hasAllColumns }: Columns, format: Format): RowForm['profiles'] {
  const ofProfile = columns.filter(isProfileField)
  if (isTable(format) || ofProfile.length === 0) return 'columns'
  if (format !== 'csv' && hasAllColumns) return 'members'
  if (isFew(ofProfile)) return 'columns'
  return format === 'csv' ? 'csv' : 'json'
}

const namedFormats = {
  json: 'JSONEachRow',
  ndjson: 'JSONEachRow',
  csv: 'CSV',
  arrow: 'ArrowStream',
  parquet: 'Parquet',
} as const satisfies Record<Format, NamedFormat>

/** How ClickHouse writes rows of this form. */
export function outputOf(
  { columns }: Pick<Columns, 'columns'>,
  format: Format,
  { leadsWithNext, profiles }: RowForm,
): OutputFormat {
  if (profiles === 'columns') return namedFormats[format]
  const inCsv = (name: string) => `\${${name}:CSV}`
  const inJson = (name: string) => `"${name}":\${${name}:JSON}`
  const shown = profiles === 'csv' ? inCsv : inJson
  const raw = (name: string) => `\${${name}:Raw}`
  const lead = leadsWithNext ? [shown(nextColumn)] : []
  if (profiles === 'members') {
    const ofEvent = columns.filter((field) => !isProfileField(field)).map(({ name }) => shown(name))
    return { row: `{${[...lead, ...ofEvent].join(',')}${memberColumns.map(raw).join('')}}` }
  }
  const pieces = runsOf(columns).map((piece) =>
    'length' in piece ? raw(piece.name) : shown(piece.name),
  )
  const row = [...lead, ...pieces].join(',')
  return { row: profiles === 'csv' ? row : `{${row}}` }
}

/** Fields of profiles that follow one another: the column of that name has their text. */
export interface Run {
  readonly name: string
  /** Of the profile's fields alone. */
  readonly from: number
  readonly length: number
}

/** Columns with fields of profiles that follow one another taken together. */
export function runsOf(columns: readonly Field[]): readonly (Field | Run)[] {
  const pieces: (Field | Run)[] = []
  let from = 0
  for (const field of columns) {
    const last = pieces.at(-1)
    if (!isProfileField(field)) pieces.push(field)
    else if (last && 'length' in last)
      pieces[pieces.length - 1] = { ...last, length: last.length + 1 }
    else pieces.push({ name: `_run_${from}`, from, length: 1 })
    if (isProfileField(field)) from += 1
  }
  return pieces
}
