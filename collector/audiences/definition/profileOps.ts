import type { Field } from '../../../schemas/fields.ts'
import { operators } from '../../events/query/filter/filter.ts'

/** The operators of profile leaves: those of filters, and two that combine two filters in one leaf. */
export const profileOps = [...operators, 'between', 'is_set'] as const
type ProfileOp = (typeof profileOps)[number]

/** JSON types of values; times are ISO 8601 texts. */
const jsonTypes = {
  Utf8: 'string',
  Timestamp: 'string',
  Int64: 'number',
  Float64: 'number',
  Boolean: 'boolean',
} as const

/**
 * Returns the operators of a field. Only texts match a pattern, booleans have no order, and identifying
 * fields support only a check for presence.
 */
export function opsOf(field: Field): readonly ProfileOp[] {
  const { dataType } = field
  if (isIdentifying(field)) return ['is_set']
  if (dataType === 'Boolean') return ['eq', 'ne', 'in', 'is_set']
  return dataType === 'Utf8' ? profileOps : profileOps.filter((op) => op !== 'like')
}

/** Returns the JSON type of a compared value; for `in` and `between`, that of each array item. */
export const valueTypeOf = ({ dataType }: Field) => jsonTypes[dataType]

/**
 * Fields whose value identifies one person, browser or event. A definition describes a group, so it may only check for
 * the presence of a value. Lists name people.
 */
const identifyingFields: ReadonlySet<string> = new Set([
  'event_id',
  'cookie_id',
  'client_ip',
  'hem',
  'pte_person_id',
  'pte_household_id',
  'maid',
  'uid2',
  'id5_id',
  'ramp_id',
  'full_name',
  'email',
  'business_email',
  'personal_email',
  'additional_emails',
  'phone',
  'direct_phone',
  'mobile_phone',
  'home_phone',
  'linkedin_url',
  'twitter_url',
  'facebook_url',
  'github_url',
  'home_street_address',
  'home_latitude',
  'home_longitude',
])

export const isIdentifying = ({ name }: Pick<Field, 'name'>): boolean => identifyingFields.has(name)
