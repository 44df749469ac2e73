import { Type } from 'typebox'
import { recordOf } from '../../platform/postgres/records.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import type { Cursors } from './cursors.ts'

const cursorLengthMax = 512

export const CursorParameter = Type.String({
  maxLength: cursorLengthMax,
  description: '`next_cursor` of the previous page.',
})

export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 100 })),
  cursor: Type.Optional(CursorParameter),
}
export const NextCursor = Type.Optional(
  Type.String({ description: 'Cursor of the next page. The last page has none.' }),
)

const defaultLimit = 100

interface PageQuery {
  limit?: number | undefined
  cursor?: string | undefined
}

export interface ListPage {
  /** Name of the list (see Cursors). */
  list: string
  /** Owner of the list (see ListCursors). */
  owner: string
  /** Selects all rows of the list. */
  sql: string
  values: readonly unknown[]
  /** The columns, with their types, that identify a row's position; each combination is unique. */
  key: Readonly<Record<string, string>>
  order?: 'asc' | 'desc'
}

/**
 * Reads one page of a list by keyset, so that new rows do not shift later pages. The times of its rows are texts. Throws
 * 400 for an invalid cursor.
 */
export async function readPage<Row>(
  { postgres, cursors }: { postgres: Queryable; cursors: Cursors },
  { limit = defaultLimit, cursor }: PageQuery,
  { list, owner, sql, values, key, order = 'asc' }: ListPage,
): Promise<{ rows: Row[]; next: { next_cursor?: string } }> {
  const listCursors = cursors<readonly string[]>(list)
  const after = cursor === undefined ? null : listCursors.read(owner, cursor)
  const [cursorPlaceholder, limitPlaceholder] = [1, 2].map((index) => `$${values.length + index}`)
  const columns = Object.keys(key)
  const last = Object.values(key).map(
    (type, index) => `(${cursorPlaceholder}::text[])[${index + 1}]::${type}`,
  )
  const { rows } = await postgres.query<Row & { page_place: readonly string[] }>(
    `SELECT *, ARRAY[${columns.map((column) => `${column}::text`)}] AS page_place FROM (${sql}) AS listed
     WHERE ${cursorPlaceholder}::text[] IS NULL OR (${columns}) ${order === 'asc' ? '>' : '<'} (${last})
     ORDER BY ${columns.map((column) => `${column} ${order}`)} LIMIT ${limitPlaceholder}`,
    [...values, after, limit + 1],
  )
  const page = rows.slice(0, limit)
  const next =
    rows.length > limit ? { next_cursor: listCursors.write(owner, page.at(-1)!.page_place) } : {}
  return { rows: page.map(({ page_place: _, ...row }) => recordOf<Row>(row)), next }
}
