import { createHash } from 'node:crypto'

/** Most rows of a sample or preview (spec: Limits). */
export const freeRowsMax = 25

/** A list or batch that names fewer people shows no free rows, only its numbers. */
export const namedPeopleMin = 25

/**
 * Returns the salt by which a sample or preview orders people: a hash of the UTC day and the question. So the same
 * question shows the same rows all day. In SQL: `ORDER BY sipHash64(member, {salt:String})`.
 */
export function freeRowsSalt(nowMs: number, question: readonly unknown[]): string {
  const day = new Date(nowMs).toISOString().slice(0, 10)
  return createHash('sha256')
    .update(JSON.stringify([day, question]))
    .digest('hex')
}

/**
 * Masks a row of a free sample or preview. Every column stays. A value is unchanged if its field is in `shownFields`,
 * and coarse if it is in `coarseFields`. Every other field, and so each new one, only shows that it has a value.
 */
export const maskRow = (row: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, maskValue(name, value)]))

const masked = '***'

function maskValue(name: string, value: unknown): unknown {
  if (value === null) return null
  if (shownFields.has(name)) return maskAddresses(value)
  return coarseFields[name]?.(value) ?? masked
}

/** Fields that describe many people or companies. Companies also show their name and domain. */
const shownFields: ReadonlySet<string> = new Set([
  'email_status',
  'do_not_call',
  'job_title',
  'job_seniority',
  'job_department',
  'job_function',
  'job_is_decision_maker',
  'job_region',
  'job_country',
  'previous_job_title',
  'skills',
  'company_name',
  'company_domain',
  'company_industry',
  'company_sub_industry',
  'company_naics_code',
  'company_sic_code',
  'company_type',
  'company_employee_range',
  'company_revenue_range',
  'company_funding_stage',
  'company_region',
  'company_country',
  'company_sells_to_businesses',
  'company_sells_to_consumers',
  'gender',
  'age_range',
  'generation',
  'marital_status',
  'has_children',
  'household_income_range',
  'income_range',
  'net_worth_range',
  'credit_rating',
  'education_level',
  'occupation',
  'home_language',
  'is_home_owner',
  'dwelling_type',
  'home_region',
  'home_country',
  'timezone',
  'interests',
  'purchase_categories',
  'is_online_shopper',
  'is_investor',
  'is_donor',
  'is_traveler',
  'is_pet_owner',
  'vehicle_make',
])

const decade = (value: unknown) => Math.floor(Number(value) / 10) * 10

/** Rounds a positive number down to its first digit. */
function firstDigit(value: unknown): number {
  const number = Number(value)
  if (!(number >= 1)) return 0
  const unit = 10 ** Math.floor(Math.log10(number))
  return Math.floor(number / unit) * unit
}

/** Returns 1 January of the year of a time. */
const year = (value: unknown) => `${String(value).slice(0, 4)}-01-01T00:00:00.000Z`

/** Fields whose exact value could identify people, as decades, bands and regions. */
const coarseFields: Readonly<Record<string, (value: unknown) => unknown>> = {
  email_verified_at: year,
  job_start_year: decade,
  years_of_experience: decade,
  company_founded_year: decade,
  company_employee_count: firstDigit,
  company_revenue_usd: firstDigit,
  company_funding_total_usd: firstDigit,
  birth_year: decade,
  age: decade,
  home_value_usd: firstDigit,
  residence_years: decade,
  home_latitude: (value) => Math.round(Number(value)),
  home_longitude: (value) => Math.round(Number(value)),
}

/** Masks each word of a text, such as a job title, that contains an address. */
const maskAddresses = (value: unknown): unknown =>
  typeof value !== 'string'
    ? value
    : value
        .split(/(\s+)/)
        .map((word) => (/@|linkedin\.com|https?:/i.test(word) ? masked : word))
        .join('')
