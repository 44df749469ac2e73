import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { isUuid } from '../../../schemas/uuid.ts'
import { requireOrganizationAdmin } from '../../api/access/permissions.ts'
import { Id, Nullable, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'
import { NextCursor, pageQuery, readPage } from '../../api/http/pagination.ts'
import type { Queryable } from '../../platform/postgres/transaction.ts'
import { access } from '../accountSchemas.ts'
import type { AccountsDeps } from '../accountsDeps.ts'

const AuditEntry = Type.Object(
  {
    entry_id: Type.String(),
    at: Timestamp,
    actor: Type.Object({
      kind: Type.Union([Type.Literal('key'), Type.Literal('member')]),
      id: Id,
      name: Type.String({ description: 'The name at the time of the entry.' }),
    }),
    action: Type.String({
      description:
        'The type of the object and the action: `pixel.update`. Without a change: `member.sign_in`, `member.sign_in_failed`, `identity.read` and `identity.download`.',
    }),
    object_kind: Type.String(),
    object_id: Type.String(),
    object_name: Nullable(Type.String(), {
      description:
        'Its name now, or at the time of the entry if it was deleted since. Null if it has none.',
    }),
    details: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'For updates: `{ field: { from, to } }`. For sign-ins: `by` (`password` or `provider`) or the `reason` of a failure, and the network `address`.',
    }),
  },
  { title: 'AuditEntry' },
)

/** GET /dashboard/audit: the audit log, newest entry first. */
export const auditRoutes =
  (deps: AccountsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/dashboard/audit',
      {
        config: { access: access.session },
        schema: {
          tags: ['Dashboard'],
          operationId: 'listAuditLog',
          summary: 'List audit log entries',
          description:
            'Requires the owner or admin role. Returns changes, sign-ins of members, and identities that members viewed or downloaded, newest first. Of failed sign-ins, a user has at most ten entries at once, then one in ten minutes. Their actor is the member whose address was used.',
          querystring: strictObject(pageQuery),
          response: {
            200: Type.Object({ entries: Type.Array(AuditEntry), next_cursor: NextCursor }),
          },
        },
      },
      async ({ principal, query }) => {
        requireOrganizationAdmin(principal)
        const { rows, next } = await readPage<Omit<Static<typeof AuditEntry>, 'object_name'>>(
          deps,
          query,
          {
            list: 'audit_log',
            owner: principal.organizationId,
            sql: `SELECT entry_id, at, actor, action, object_kind, object_id, details FROM audit_log
                WHERE organization_id = $1`,
            values: [principal.organizationId],
            key: { entry_id: 'bigint' },
            order: 'desc',
          },
        )
        const names = await readObjectNames(
          deps.postgres,
          rows.map(({ object_id }) => object_id),
        )
        const entries = rows.map((row) => ({
          ...row,
          object_name: names.get(row.object_id) ?? nameIn(row.details),
        }))
        return { entries, ...next }
      },
    )
  }

/** The name of the object in an entry's own details. */
function nameIn({ name, email, text, url }: Record<string, unknown>): string | null {
  const objectName = [name, email, text, url].find((value) => typeof value === 'string')
  return (objectName as string | undefined) ?? null
}

/** Selects the id and the name of every kind of object in the log. */
const named = `
  SELECT organization_id AS id, name FROM organizations
  UNION ALL SELECT project_id, name FROM projects
  UNION ALL SELECT pixel_id, name FROM pixels
  UNION ALL SELECT key_id, name FROM api_keys
  UNION ALL SELECT member_id, coalesce(name, email) FROM members
  UNION ALL SELECT campaign_id, name FROM campaigns
  UNION ALL SELECT audience_id, name FROM audiences
  UNION ALL SELECT list_id, name FROM lists
  UNION ALL SELECT integration_id, name FROM integrations
  UNION ALL SELECT export_id, name FROM exports
  UNION ALL SELECT share_id, name FROM share_links
  UNION ALL SELECT webhook_id, url FROM webhooks
  UNION ALL SELECT visit_alert_id, name FROM visit_alerts
  UNION ALL SELECT item_id, coalesce(content ->> 'name', content ->> 'text') FROM saved_items`

/** Reads the names of objects by id; deleted objects have none. The ids come from the caller's own log. */
async function readObjectNames(
  client: Queryable,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ id: string; name: string }>(
    `SELECT id, name FROM (${named}) AS named WHERE id = ANY($1::uuid[])`,
    [ids.filter(isUuid)],
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}
