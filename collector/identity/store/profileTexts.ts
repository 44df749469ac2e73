/**
 * Profile fields as text, when a response has many of them but not all. profile_rows stores each profile as
 * encoded JSON members. ClickHouse would analyse one expression for each field longer than it reads the page.
 * So a few expressions cut the JSON into pieces, pick and order the pieces, and join them. For the fields
 * `last_name, age`:
 *
 * - _members: `,"first_name":"Ann,","last_name":"Lee","age":31`, the stored JSON; '' if there is no profile.
 * - marked: `,"first_name":"Ann\x01","last_name":"Lee","age":31`. A mark temporarily replaces the comma that
 * ends a text.
 * - _split: `'', first_name":"Ann\x01", last_name":"Lee", age":31, ''`, split at `,"`, which now only begins
 * members.
 * - _pieces: `last_name":"Lee", age":31`. By place (chosenOf) if the row has exactly the expected members,
 * otherwise by name (namedPieces).
 * - sqlOf: `"last_name":"Lee","age":31`, joined with `,"` and without marks; or the values as CSV.
 */
import { type Field, isProfileField, profileFields } from '../../../schemas/fields.ts'
import { isPteField } from '../../platform/clickhouse/profileRows.ts'
import { jsonOf, readyMembers } from './profileSql.ts'

/** How a text contains fields: as members of a JSON object, or as CSV values. */
export type TextForm = 'json' | 'csv'

/** Adjacent profile fields. The column `name` has their text. */
export interface Run {
  readonly name: string
  /** The index of the first one among the profile fields of the response. */
  readonly from: number
  readonly length: number
}

/** Returns the columns of a response, in which adjacent profile fields form one run. */
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

/**
 * The SQL of profile fields as text, for rows that have `_person`. `declared` belongs into WITH. `sqlOf` is the text of
 * `length` adjacent fields from index `from` on. `escaped` wraps the SQL of each CSV text, to escape formulas.
 */
export function profileTexts(
  fields: readonly Field[],
  form: TextForm,
  escaped?: (sql: string) => string,
): { declared: string; sqlOf: (from: number, length: number) => string } {
  const stored = storedWith(fields)
  const texts =
    form === 'csv' ? `arrayMap(piece -> ${csvOf(valueIn('piece'), escaped)}, _pieces)` : '_pieces'
  return {
    declared: `${readyMembers(fields)} AS _members,
${jsonOf('_members')} AS _json,
${splitMembers} AS _split,
multiIf(
  _members = '', ${listOf(fields.map(({ name }) => `${name}":null`))},
  JSONExtractKeys(_json) = ${namesOf(stored)}, ${chosenOf(fields, stored)},
  ${namedPieces(fields)}) AS _pieces,
${texts} AS _texts`,
    sqlOf(from, length) {
      const slice =
        length === fields.length ? '_texts' : `arraySlice(_texts, ${from + 1}, ${length})`
      return form === 'csv'
        ? `arrayStringConcat(${slice}, ',')`
        : unmarked(`concat('"', arrayStringConcat(${slice}, ',"'))`)
    },
  }
}

/** Returns all fields of the stored JSON that contains these fields, in its order. */
function storedWith(fields: readonly Field[]): readonly Field[] {
  const kinds = new Set(fields.map(isPteField))
  return profileFields.filter((field) => kinds.has(isPteField(field)))
}

const listOf = (texts: readonly string[]): string => `splitByChar(',', '${texts.join(',')}')`

const namesOf = (fields: readonly Field[]): string => listOf(fields.map(({ name }) => name))

/** A character that JSON never contains unescaped. */
const mark = "'\\x01'"

/**
 * SQL: the pieces `name":value` of _members, between two empty ones. A text that ends in a comma would look like the
 * beginning of a member, so a mark replaces that comma until `unmarked`.
 */
const splitMembers = `splitByString(',"', replaceAll(concat(_members, ',"'), ',",', concat(${mark}, '",')))`

const unmarked = (text: string): string => `replaceAll(${text}, ${mark}, ',')`

/**
 * SQL: the pieces of these fields, in their order, from _split, which has the pieces of all stored fields. Sorting by
 * place puts the unwanted pieces, of place 0, first; arraySlice removes them.
 */
function chosenOf(fields: readonly Field[], stored: readonly Field[]): string {
  const places = [0, ...stored.map((field) => fields.indexOf(field) + 1)]
  // ClickHouse also computes this for rows with other members, which then use namedPieces: arraySort needs equal lengths.
  const pieces = `arrayResize(_split, ${places.length})`
  const isInOrder = places.every((place, at) => place === at)
  const sorted = isInOrder ? pieces : `arraySort((piece, place) -> place, ${pieces}, [${places}])`
  return `arraySlice(${sorted}, ${places.length - fields.length + 1})`
}

/** Finds pieces by name in profiles that were stored before a field existed. */
function namedPieces(fields: readonly Field[]): string {
  const names = namesOf(fields)
  const values = `arrayMap(name -> CAST(JSONExtractKeysAndValuesRaw(_json), 'Map(String, String)')[name], ${names})`
  return `arrayMap((name, value) -> concat(name, '":', if(value = '', 'null', value)), ${names}, ${values})`
}

const valueIn = (piece: string): string =>
  unmarked(`substring(${piece}, position(${piece}, '":') + 2)`)

/** SQL: a JSON value as a CSV value. A text without a backslash is equal in both. */
function csvOf(value: string, escaped?: (sql: string) => string): string {
  const text = `JSONExtractString(${value})`
  const isSame = escaped ? `NOT startsWith(${value}, '"')` : `position(${value}, '\\\\') = 0`
  return `multiIf(${value} = 'null', '', ${isSame}, ${value}, concat('"', replaceAll(${escaped ? escaped(text) : text}, '"', '""'), '"'))`
}
