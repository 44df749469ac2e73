import { isIdentifying } from '../definition/identifyingFields.ts'

/**
 * Further fields that identify a person or contain contact data: free samples only show that they have a
 * value.
 */
const maskedFields: ReadonlySet<string> = new Set([
  'first_name',
  'middle_name',
  'last_name',
  'company_phone',
  'company_linkedin_url',
])

/** Whether samples and previews mask the value of a field. */
export const isMasked = (name: string): boolean => isIdentifying({ name }) || maskedFields.has(name)

const shown = '***'

/**
 * Masks the values of a row: texts keep their first character. Other texts, such as descriptions, lose each
 * word that contains an address.
 */
export const maskRow = (row: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value === null ? null : isMasked(name) ? maskValue(value) : maskAddresses(value),
    ]),
  )

const maskValue = (value: unknown): string =>
  typeof value === 'string' ? `${[...value][0] ?? ''}${shown}` : shown

const maskAddresses = (value: unknown): unknown =>
  typeof value !== 'string'
    ? value
    : value
        .split(/(\s+)/)
        .map((word) => (/@|linkedin\.com/i.test(word) ? shown : word))
        .join('')

/** Fields of a free sample: the coarse form of a field, never a value that could identify people. */
const coarseFields: ReadonlySet<string> = new Set([
  'job_seniority',
  'job_department',
  'job_country',
  'company_industry',
  'company_employee_range',
  'company_revenue_range',
  'company_type',
  'company_country',
  'age_range',
  'generation',
  'home_country',
])

/**
 * Returns a row of a free sample: coarse fields unchanged, and for all others only whether there is a value.
 */
export const coarseRow = (row: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      name === 'hem' ? [] : [[name, value === null || coarseFields.has(name) ? value : shown]],
    ),
  )
