import { fieldNamed, fieldSql } from '../../../schemas/fields.ts'
import type { Source } from './source.ts'

/** A column and its expression. */
export interface Column {
  name: string
  sql: string
}

/**
 * Returns the columns of events from a source (null: both). Events of pixels have every value, so their
 * columns need no expression.
 */
export const columnsFrom = (
  source: Source | null,
  columns: readonly Column[],
): readonly Column[] =>
  source === 'pixel'
    ? columns
    : columns.map((column) => {
        const field = column.sql === column.name ? fieldNamed(column.name) : undefined
        return field ? { name: column.name, sql: fieldSql(field) } : column
      })

/** Returns columns in the syntax of SELECT. */
export const selectList = (columns: readonly Column[]): string =>
  columns.map(({ name, sql }) => (sql === name ? name : `${sql} AS ${name}`)).join(', ')
