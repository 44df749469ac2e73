import type { Field } from '../../schemas/fields.ts'
import { invalidParameter } from '../http/errors.ts'
import { isUuidField } from './uuid.ts'

/** The values of the parameter csv_formulas; the first is the default. */
export const csvFormulas = ['keep', 'escape'] as const

/** What spreadsheets take a text for a formula by (OWASP: CSV Injection). */
const formulaStart = '^[=+@\\\\-\\\\t\\\\r\\\\n]'

/** True when texts that a spreadsheet would run are to be escaped. Throws 400 for a value that does not exist. */
export function readEscapesFormulas(text: string | undefined): boolean {
  const value = csvFormulas.find((candidate) => candidate === (text ?? 'keep'))
  if (!value) throw invalidParameter('csv_formulas', `must be ${csvFormulas.join(' or ')}`)
  return value === 'escape'
}

/** SQL of a field's value that no spreadsheet runs: texts that look like a formula get an apostrophe in front. */
export const escapedFormula = (field: Field, sql: string): string =>
  field.dataType === 'Utf8' && !isUuidField(field)
    ? `if(match(${sql}, '${formulaStart}'), concat('\\'', ${sql}), ${sql})`
    : sql
