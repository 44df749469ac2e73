import type { Field } from '../../../schemas/fields.ts'
import { Choice } from '../../api/http/commonSchemas.ts'
import { isUuidField } from './uuid.ts'

/** The parameter `csv_formulas`. */
export const CsvFormulas = Choice(['keep', 'escape'], {
  default: 'keep',
  description:
    'escape: in CSV, a text that begins with =, +, -, @, one of these in full width, a tab or a line end gets an ' +
    'apostrophe in front, so that no spreadsheet runs what a visitor or a page wrote. keep: texts as they are, for ' +
    'programs. Changes nothing of JSON.',
})

/** What spreadsheets take a text for a formula by (OWASP: CSV Injection). */
const formulaStart = '^[=+@＝＋－＠\\\\-\\\\t\\\\r\\\\n]'

/** SQL of a field's value that no spreadsheet runs: texts that look like a formula get an apostrophe in front. */
export const escapedFormula = (field: Field, sql: string): string =>
  field.dataType === 'Utf8' && !isUuidField(field) ? escapedText(sql) : sql

/** The same of any text. */
export const escapedText = (sql: string): string =>
  `if(match(${sql}, '${formulaStart}'), concat('\\'', ${sql}), ${sql})`
