import { countryName, dateText } from '../../format.ts'
import { labelOfValue, words } from '../../view/labels.ts'

/** A row of a preview: the score, the topics, and the masked fields of a person or company. */
export type PreviewRow = Readonly<Record<string, unknown>>

/** The columns that describe the person or company best, in order. */
const firstNames = [
  'company_name',
  'topics',
  'score',
  'job_title',
  'company_domain',
  'company_industry',
  'company_employee_range',
  'company_city',
  'company_country',
]
/** Codes, which mean nothing to people. */
const lastNames = ['company_naics_code', 'company_sic_code']

/** A value that the preview masks. */
const masked = '***'

/** Returns the fields with a value in these rows that is not masked: companies and topics first, codes last. */
export function previewFields(rows: readonly PreviewRow[]): string[] {
  const isKnown = (name: string) =>
    rows.some((row) => (row[name] ?? null) !== null && row[name] !== masked)
  const names = [...new Set(rows.flatMap(Object.keys))].filter(isKnown)
  const rest = names.filter((name) => !firstNames.includes(name) && !lastNames.includes(name))
  return [...firstNames, ...rest, ...lastNames].filter((name) => names.includes(name))
}

/** Returns a field of a row as text, or as a number that can be sorted. */
export function previewValue(row: PreviewRow, name: string): string | number | null {
  const value = row[name] ?? null
  if (value === null || typeof value === 'number') return value
  if (Array.isArray(value)) return value.map(({ topic }) => words(String(topic))).join(', ')
  if (name.endsWith('_country')) return countryName(String(value))
  const text = String(value)
  return /^\d{4}-\d\d-\d\dT/.test(text) ? dateText(text.slice(0, 10)) : labelOfValue(name, text)
}
