import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../paths.ts'

/** Where the SQL files of the schema are. */
export const schemaDirectory = join(packageRoot, 'collector/platform/clickhouse')

/** The text of a file of the schema. */
export const readSchemaFile = (file: string): string =>
  readFileSync(join(schemaDirectory, file), 'utf8')

/** The statements of a file, with the `values` in the places of their names in braces. Other braces stay. */
export const readStatements = (file: string, values: Readonly<Record<string, string>>): string[] =>
  statementsOf(readSchemaFile(file), values)

/** The same for a text. Statements end with a semicolon at the end of a line; comment lines are dropped. */
export const statementsOf = (
  template: string,
  values: Readonly<Record<string, string>>,
): string[] =>
  template
    .replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
    .replace(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter(Boolean)
