/** Fields that say who somebody is or how to reach them: of samples, which cost nothing, they show that there is a value. */
const maskedFields = new Set([
  ...['hem', 'pte_person_id', 'pte_household_id', 'maid', 'uid2', 'id5_id', 'ramp_id'],
  ...['first_name', 'middle_name', 'last_name', 'full_name'],
  ...['email', 'business_email', 'personal_email', 'additional_emails'],
  ...['phone', 'direct_phone', 'mobile_phone', 'home_phone', 'company_phone'],
  ...['linkedin_url', 'company_linkedin_url', 'twitter_url', 'facebook_url', 'github_url'],
  ...['home_street_address', 'home_latitude', 'home_longitude'],
])

const shown = '***'

/** A row with what is masked in it: of texts the first character stays. */
export const maskRow = (row: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value === null || !maskedFields.has(name) ? value : maskValue(value),
    ]),
  )

const maskValue = (value: unknown): string =>
  typeof value === 'string' ? `${[...value][0] ?? ''}${shown}` : shown
