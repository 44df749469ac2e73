import { type Static, Type } from 'typebox'
import { type Field, hem, hemAsNumber, numberAsHem } from '../../../../schemas/fields.ts'
import { strictObject } from '../../../api/http/commonSchemas.ts'
import { invalidParameter } from '../../../api/http/errors.ts'
import { profileOf } from '../../../identity/store/personSql.ts'
import { isHem } from '../../../platform/hem.ts'
import type { Bind } from '../bind.ts'
import { type Filter, filtersMax, operators, readFilterOf, readFilters } from '../filter/filter.ts'
import { filterCondition } from '../filter/filterSql.ts'

/** Longer than any field. ClickHouse accepts 128 KiB for a value, and may escape each character. */
const valueCharsMax = 8192
const filterCharsMax = 32_768

const Condition = strictObject({
  field: Type.String({ description: 'Profile field of a person, or hem.' }),
  op: Type.String({ description: operators.join(', ') }),
  value: Type.Union([Type.String({ maxLength: valueCharsMax }), Type.Number(), Type.Boolean()]),
})

/** The member `filter` in the body of requests for people or companies; readProfileFilters reads it. */
export const ProfileFilter = Type.Union(
  [
    Type.String({
      minLength: 1,
      maxLength: filterCharsMax,
      description: 'Conditions field:op:value, joined by commas, as in filters of events.',
    }),
    Type.Array(Condition, { minItems: 1, maxItems: filtersMax }),
  ],
  { description: 'All conditions must match.' },
)

/** Profile fields require the highest tier. */
const tier = 'resolution_full_profile'

/** Reads filters over `fields` of a `what`. Throws 400 that names the fault. */
export function readProfileFilters(
  input: Static<typeof ProfileFilter>,
  fields: readonly Field[],
  what: 'person' | 'company',
): readonly Filter[] {
  const filters =
    typeof input === 'string'
      ? readFilters(input, tier)
      : input.map((parts) => readFilterOf({ ...parts, value: String(parts.value) }, tier))
  const other = filters.find(({ field }) => !field || !fields.includes(field))
  if (other) {
    const name = other.field?.name ?? 'event_data'
    throw invalidParameter(
      'filter',
      what === 'person'
        ? `${name} is an event field, not a field of a person`
        : `${name} is not a field of a company`,
    )
  }
  return filters
}

/**
 * Returns SQL of a filter over rows of `profiles` or `companies`. A hem selects the profile that describes it, also if
 * only the profile names its address.
 */
export function profileFilterCondition(filter: Filter, bind: Bind): string {
  const values = [filter, ...(filter.others ?? [])].map(({ value }) => String(value))
  const isOfHems = filter.field === hem && (filter.op === 'eq' || filter.op === 'in')
  if (!isOfHems || !values.every(isHem)) return filterCondition(filter, bind)
  const asked = `SELECT arrayJoin(${bind('Array(String)', values)}) AS asked`
  return `hem IN (SELECT ${numberAsHem(profileOf(hemAsNumber('asked')))} FROM (${asked}))`
}
