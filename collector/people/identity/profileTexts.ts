import { type Field, profileFields } from '../../../schemas/fields.ts'
import { profileJson } from './profileSql.ts'

/** How fields stand in a text: as members of a JSON object, or as values of CSV. */
export type TextForm = 'json' | 'csv'

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
  const names = `splitByChar(',', '${fields.map(({ name }) => name).join(',')}')`
  const found = isWhole(fields) ? '_members' : sorted(fields.length)
  const item = form === 'csv' ? `value -> ${csvOf('value', escaped)}` : `(value, name) -> ${memberOf}`
  return {
    declared: `${names} AS _names,
JSONExtractKeysAndValuesRaw(${profileJson(fields)}) AS _members,
${found} AS _found,
multiIf(
  empty(_members), arrayResize(emptyArrayString(), ${fields.length}, ''),
  tupleElement(_found, 1) = _names, tupleElement(_found, 2),
  arrayMap(name -> CAST(_members, 'Map(String, String)')[name], _names)) AS _raw,
arrayMap(${item}, _raw${form === 'csv' ? '' : ', _names'}) AS _texts`,
    sqlOf: (from, length) =>
      length === fields.length
        ? "arrayStringConcat(_texts, ',')"
        : `arrayStringConcat(arraySlice(_texts, ${from + 1}, ${length}), ',')`,
  }
}

/** The ready JSON has all fields in the order of the field table. */
const isWhole = (fields: readonly Field[]): boolean =>
  fields.length === profileFields.length && fields.every((field, at) => field === profileFields[at])

/** SQL: of _members those of _names, in their order. The others have the place 0, so they come first. */
const sorted = (length: number): string => {
  const places = `arrayMap(member -> transform(member.1, _names, range(1, ${length + 1}), 0), _members) AS _places`
  return `arraySlice(arraySort((member, place) -> place, _members, ${places}), countEqual(_places, 0) + 1)`
}

/** SQL of a member of JSON; a profile that was written before there was the field lacks it. */
const memberOf = `concat('"', name, '":', if(value = '', 'null', value))`

/** SQL: a value of JSON as one of CSV. A text without a backslash is the same in both. */
function csvOf(value: string, escaped?: (sql: string) => string): string {
  const text = `JSONExtractString(${value})`
  const isSame = escaped ? `NOT startsWith(${value}, '"')` : `position(${value}, '\\\\') = 0`
  return `multiIf(${value} IN ('', 'null'), '', ${isSame}, ${value}, concat('"', replaceAll(${escaped ? escaped(text) : text}, '"', '""'), '"'))`
}
