import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../paths.ts'

/** Where the SQL files of the schema are. */
export const schemaDirectory = join(packageRoot, 'collector/platform/clickhouse')

/** The statements of a file, with the `values` in the places of their names in braces. Other braces stay. */
export function readStatements(file: string, values: Readonly<Record<string, string>>): string[] {
  const template = readFileSync(join(schemaDirectory, file), 'utf8')
  const sql = template.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
  return statementsOf(sql)
}

/** Splits at the semicolons that end a line; comment lines are dropped. */
const statementsOf = (sql: string): string[] =>
  sql
    .replace(/^\s*--.*$/gm, '')
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter(Boolean)
