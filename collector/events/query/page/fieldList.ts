import { Type } from 'typebox'
import { type Field, fieldNamed, isReadableAt, type Tier } from '../../../../schemas/fields.ts'
import { invalidParameter } from '../../../api/http/errors.ts'
import { readNames } from '../../../api/http/nameList.ts'

/** Names separated by commas, without duplicates; readFields and readNames read it. */
export const FieldList = (description: string) => Type.String({ description })

/** The parameter `select` of routes whose rows are events. */
export const Select = FieldList(
  'Comma-separated fields, in the order of the columns. Default: every field of the tier except session_id and is_entry.',
)

/** The parameter `distinct` of pages. */
export const Distinct = FieldList(
  'Comma-separated fields. Of events with the same values in these fields, only the newest is returned.',
)

/** Reads a list of fields. Throws 400 for unknown fields, fields above the tier, and duplicates. */
export function readFields(parameter: string, list: string, tier: Tier): readonly Field[] {
  return readNames(parameter, list).map((name) => readField(parameter, name, tier))
}

function readField(parameter: string, name: string, tier: Tier): Field {
  const field = fieldNamed(name)
  if (!field) throw invalidParameter(parameter, `there is no field "${name}"`)
  if (!isReadableAt(field, tier)) {
    throw invalidParameter(parameter, `"${name}" is not part of ${tier}: it requires ${field.tier}`)
  }
  return field
}
