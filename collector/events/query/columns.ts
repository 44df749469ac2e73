/** A column and what it is computed from. */
export interface Column {
  name: string
  sql: string
}

/** Columns as SELECT lists them. */
export const selectList = (columns: readonly Column[]): string =>
  columns.map(({ name, sql }) => (sql === name ? name : `${sql} AS ${name}`)).join(', ')
