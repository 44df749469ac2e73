import { type Field, isProfileField, profileFields } from '../../../schemas/fields.ts'
import { isPteField } from '../../platform/clickhouse/profileRows.ts'
import { jsonOf, readyMembers } from './profileSql.ts'

/** How fields stand in a text: as members of a JSON object, or as values of CSV. */
export type TextForm = 'json' | 'csv'

/** Fields of profiles that follow one another. The column `name` has their text. */
export interface Run {
  readonly name: string
  /** The index of the first of them, among the fields of profiles. */
  readonly from: number
  readonly length: number
}

/** Columns, in which fields of profiles that follow one another form one run. */
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
 * Many fields of a profile as text, for rows that have _person: made of the ready JSON by a few expressions for all
 * fields together, since ClickHouse analyses each expression, and a hundred for longer than a page of their values
 * takes. `declared` stands in WITH, `sqlOf` is some of the fields that follow one another, with commas between them.
 * `escaped` makes SQL of a text that CSV is to have in its place.
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

/** The fields of the ready JSON that these are a part of, in its order. */
function storedWith(fields: readonly Field[]): readonly Field[] {
  const kinds = new Set(fields.map(isPteField))
  return profileFields.filter((field) => kinds.has(isPteField(field)))
}

const listOf = (texts: readonly string[]): string => `splitByChar(',', '${texts.join(',')}')`

const namesOf = (fields: readonly Field[]): string => listOf(fields.map(({ name }) => name))

/** What JSON never has inside a text. */
const mark = "'\\x01'"

/**
 * SQL: the pieces `name":value` of _members, between two empty ones. That a text ends in a comma looks like a member's
 * beginning, so such a comma is a mark meanwhile.
 */
const splitMembers = `splitByString(',"', replaceAll(concat(_members, ',"'), ',",', concat(${mark}, '",')))`

const unmarked = (text: string): string => `replaceAll(${text}, ${mark}, ',')`

/**
 * SQL: the pieces of these fields, in their order, where _split are those of all that are stored. What is not asked for
 * has the place 0, so it comes first.
 */
function chosenOf(fields: readonly Field[], stored: readonly Field[]): string {
  const places = [0, ...stored.map((field) => fields.indexOf(field) + 1)]
  // As many as there are places in rows of another version, too, whose pieces are made by name.
  const pieces = `arrayResize(_split, ${places.length})`
  const isInOrder = places.every((place, at) => place === at)
  const sorted = isInOrder ? pieces : `arraySort((piece, place) -> place, ${pieces}, [${places}])`
  return `arraySlice(${sorted}, ${places.length - fields.length + 1})`
}

/** SQL: the same by name, whatever members a row has: a profile that was written before there was the field lacks it. */
function namedPieces(fields: readonly Field[]): string {
  const names = namesOf(fields)
  const values = `arrayMap(name -> CAST(JSONExtractKeysAndValuesRaw(_json), 'Map(String, String)')[name], ${names})`
  return `arrayMap((name, value) -> concat(name, '":', if(value = '', 'null', value)), ${names}, ${values})`
}

const valueIn = (piece: string): string =>
  unmarked(`substring(${piece}, position(${piece}, '":') + 2)`)

/** SQL: a value of JSON as one of CSV. A text without a backslash is the same in both. */
function csvOf(value: string, escaped?: (sql: string) => string): string {
  const text = `JSONExtractString(${value})`
  const isSame = escaped ? `NOT startsWith(${value}, '"')` : `position(${value}, '\\\\') = 0`
  return `multiIf(${value} = 'null', '', ${isSame}, ${value}, concat('"', replaceAll(${escaped ? escaped(text) : text}, '"', '""'), '"'))`
}
