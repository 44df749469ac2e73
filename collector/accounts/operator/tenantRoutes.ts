import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { Id, strictObject } from '../../api/http/commonSchemas.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import type { OperatorDeps } from './operatorDeps.ts'
import { requireOperator } from './operators.ts'

const tenantsMax = 50
const days = 30

const Tenant = Type.Object(
  {
    organization_id: Id,
    name: Type.String(),
    members: Type.Integer(),
    projects: Type.Integer(),
    events: Type.Integer({ description: `Received in the last ${days} days.` }),
    amount_micros: Type.Integer({ description: 'Charged this month (UTC).' }),
  },
  { title: 'Tenant' },
)

export const tenantRoutes =
  ({ postgres, openQueryExecutor }: OperatorDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/dashboard/operator/tenants',
      {
        config: { access: { to: 'session' } },
        schema: {
          tags: ['Dashboard'],
          operationId: 'listTopTenants',
          summary: 'List the busiest organizations',
          description: `Requires an operator. Returns the ${tenantsMax} organizations with the most events and the ${tenantsMax} with the highest charges.`,
          querystring: strictObject({}),
          response: { 200: Type.Object({ tenants: Type.Array(Tenant) }) },
        },
      },
      async ({ principal }, reply) => {
        await requireOperator(postgres, principal)
        const queryExecutor = openQueryExecutor(principal, {
          effort: 'scan',
          signal: untilClosed(reply),
        })
        const events = await queryExecutor.rows<{ organization_id: string; events: number }>({
          sql: `SELECT organization_id, count() AS events FROM events
                WHERE received_at >= now() - INTERVAL ${days} DAY
                GROUP BY organization_id ORDER BY events DESC, organization_id LIMIT ${tenantsMax}`,
          params: {},
        })
        const { rows } = await postgres.query<Static<typeof Tenant>>(
          `WITH charged AS (
             SELECT organization_id, sum(amount_micros)::float8 AS amount_micros FROM usage_totals
             WHERE project_id = '00000000-0000-0000-0000-000000000000' AND period = 'month'
               AND starts = date_trunc('month', now() AT TIME ZONE 'UTC')::date
             GROUP BY organization_id
           ), heard AS (
             SELECT * FROM jsonb_to_recordset($1) AS heard (organization_id uuid, events float8)
           )
           SELECT organization_id, name, coalesce(events, 0) AS events, coalesce(amount_micros, 0) AS amount_micros,
             (SELECT count(*)::int FROM members WHERE members.organization_id = organizations.organization_id) AS members,
             (SELECT count(*)::int FROM projects WHERE projects.organization_id = organizations.organization_id) AS projects
           FROM organizations LEFT JOIN heard USING (organization_id) LEFT JOIN charged USING (organization_id)
           WHERE heard.organization_id IS NOT NULL OR organization_id IN (
             SELECT organization_id FROM charged ORDER BY amount_micros DESC, organization_id LIMIT $2)
           ORDER BY events DESC, amount_micros DESC, organization_id`,
          [JSON.stringify(events), tenantsMax],
        )
        return { tenants: rows }
      },
    )
  }
