import { Type } from 'typebox'
import { isUuid } from '../../schemas/uuid.ts'
import type { Queryable } from '../platform/postgres/transaction.ts'
import { invalidParameter } from './errors.ts'

/** The query parameters of every list. */
export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200, default: 100 })),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: '`next_cursor` of the page before.' })),
}
export const NextCursor = Type.Optional(Type.String({ description: 'Absent on the last page.' }))

const defaultLimit = 100

interface PageQuery {
  limit?: number
  cursor?: string
}

/**
 * One page of what `sql` selects, oldest first. The select needs a column `created_at` and the uuid column `id`,
 * which together say a row's place; what is added while somebody pages moves nothing.
 */
export async function readPage<Row>(
  postgres: Queryable,
  { limit = defaultLimit, cursor }: PageQuery,
  { sql, values, id }: { sql: string; values: readonly unknown[]; id: string },
): Promise<{ rows: Row[]; next: { next_cursor?: string } }> {
  const after = cursor === undefined ? null : readPlace(cursor)
  const [micros, afterId, most] = [1, 2, 3].map((place) => `$${values.length + place}`)
  const { rows } = await postgres.query<Row & { place: string }>(
    `SELECT *, page_micros || '.' || ${id} AS place
     FROM (SELECT *, (extract(epoch FROM created_at) * 1000000)::bigint AS page_micros FROM (${sql}) AS selected) AS listed
     WHERE ${micros}::bigint IS NULL OR (page_micros, ${id}) > (${micros}::bigint, ${afterId}::uuid)
     ORDER BY page_micros, ${id} LIMIT ${most}`,
    [...values, after?.micros ?? null, after?.id ?? null, limit + 1],
  )
  const page = rows.slice(0, limit)
  const isLast = rows.length <= limit
  return {
    rows: page,
    next: isLast ? {} : { next_cursor: Buffer.from(page.at(-1)!.place).toString('base64url') },
  }
}

function readPlace(cursor: string): { micros: string; id: string } {
  const [micros, id] = Buffer.from(cursor, 'base64url').toString().split('.')
  if (!micros || !/^\d{1,17}$/.test(micros) || !isUuid(id)) {
    throw invalidParameter('cursor', 'is not one that this list gave')
  }
  return { micros, id }
}
