import type { Field } from '../../../schemas/fields.ts'

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
