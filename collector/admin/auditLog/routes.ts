import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { requireOrganizationAdmin } from '../../access/permissions.ts'
import { invalidParameter } from '../../http/errors.ts'
import { NextCursor, pageQuery } from '../../http/pagination.ts'
import { exactly, Id, Timestamp } from '../../http/schemas.ts'
import type { AccountsDeps } from '../deps.ts'
import { access } from '../schemas.ts'

const AuditEntry = Type.Object(
  {
    entry_id: Type.String(),
    at: Timestamp,
    actor: Type.Object({
      kind: Type.Union([Type.Literal('key'), Type.Literal('member')]),
      id: Id,
      name: Type.String({ description: 'As it was then.' }),
    }),
    action: Type.String({ description: 'The kind of object and what was done to it: `pixel.update`.' }),
    object_kind: Type.String(),
    object_id: Type.String(),
    details: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Of updates, `{ field: { from, to } }`.',
    }),
  },
  { title: 'AuditEntry' },
)

interface AuditRow {
  entry_id: string
  at: Date
  actor: { kind: 'key' | 'member'; id: string; name: string }
  action: string
  object_kind: string
  object_id: string
  details: Record<string, unknown>
}

/** GET /dashboard/audit: who changed what, newest first. */
export const auditRoutes =
  ({ postgres }: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/dashboard/audit',
      {
        config: { access: access.session },
        schema: {
          tags: ['Dashboard'],
          operationId: 'listAuditLog',
          summary: 'List the audit log, newest first',
          description: 'For owners and admins.',
          querystring: exactly(pageQuery),
          response: { 200: Type.Object({ entries: Type.Array(AuditEntry), next_cursor: NextCursor }) },
        },
      },
      async ({ principal, query: { limit = 100, cursor } }) => {
        requireOrganizationAdmin(principal)
        if (cursor !== undefined && !/^\d{1,18}$/.test(cursor)) {
          throw invalidParameter('cursor', 'is not one that this list gave')
        }
        const { rows } = await postgres.query<AuditRow>(
          `SELECT entry_id, at, actor, action, object_kind, object_id, details FROM audit_log
           WHERE organization_id = $1 AND ($2::bigint IS NULL OR entry_id < $2)
           ORDER BY entry_id DESC LIMIT $3`,
          [principal.organizationId, cursor ?? null, limit + 1],
        )
        const entries = rows.slice(0, limit).map((row) => ({ ...row, at: row.at.toISOString() }))
        return rows.length > limit ? { entries, next_cursor: entries.at(-1)!.entry_id } : { entries }
      },
    )
  }
