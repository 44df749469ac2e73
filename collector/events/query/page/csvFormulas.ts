import type { Field } from '../../../../schemas/fields.ts'
import { Choice } from '../../../api/http/commonSchemas.ts'
import { isUuidField } from '../columns.ts'

/** The parameter `csv_formulas`. */
export const csvFormulas = (defaultChoice: 'keep' | 'escape') =>
  Choice(['keep', 'escape'], {
    default: defaultChoice,
    description:
      'Formulas in CSV. `escape` puts an apostrophe before a text that begins with =, +, -, @, their full-width forms, ' +
      'a tab or a line end. Spreadsheets then do not run it. `keep` returns texts unchanged, for ' +
      'programs. Other formats are not affected.',
  })

/** The first characters by which spreadsheets recognize a formula (OWASP: CSV Injection). */
const formulaStart = '^[=+@＝＋－＠\\\\-\\\\t\\\\r\\\\n]'

/** SQL of a value that no spreadsheet runs: an apostrophe precedes texts like a formula. */
export const escapedFormula = (field: Field, sql: string): string =>
  field.dataType === 'Utf8' && !isUuidField(field) ? escapedText(sql) : sql

/** Returns SQL of a text that no spreadsheet runs. */
export const escapedText = (sql: string): string =>
  `if(match(${sql}, '${formulaStart}'), concat('\\'', ${sql}), ${sql})`
