import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../paths.ts'

export const schemaDirectory = join(packageRoot, 'collector/platform/clickhouse')

export const readSchemaFile = (file: string): string =>
  readFileSync(join(schemaDirectory, file), 'utf8')

/** Reads the statements of a file and replaces names in braces with their `values`. Other braces stay. */
export const readStatements = (file: string, values: Readonly<Record<string, string>>): string[] =>
  statementsOf(readSchemaFile(file), values)

/**
 * Splits a text into statements and replaces names in braces. A statement ends with a semicolon at the end of
 * a line; comment lines are removed.
 */
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

/** Returns a text in quotation marks for SQL, where a value cannot be bound. */
export const sqlText = (text: string): string =>
  `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
