import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { requireOrganizationAdmin } from '../api/access/permissions.ts'
import { Id, Nullable, strictObject, Timestamp } from '../api/http/commonSchemas.ts'
import type { BillingDeps } from './billingDeps.ts'
import { Currency, MeterName, Micros, tags } from './billingSchemas.ts'
import { readLimits, replaceLimits } from './limits.ts'

const Records = (description: string) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description })

const budget = {
  project_id: Type.Union([Id, Type.Null()], {
    description: 'The project the budget limits. Null: the organization.',
  }),
  monthly_micros: Micros('Most that a calendar month (UTC) may cost.'),
}
const limit = {
  meter: MeterName,
  daily_records: Nullable(Records('Most records a UTC day. Null: no limit.')),
  monthly_records: Nullable(Records('Most records a calendar month (UTC). Null: no limit.')),
}

const Limits = Type.Object(
  {
    currency: Currency,
    shut_off: Type.Boolean({
      description: 'True if the operator of the service has paused usage.',
    }),
    budgets: Type.Array(
      Type.Object({
        ...budget,
        spent_micros: Micros('Cost of this month so far.'),
        alerts: Type.Array(
          Type.Object({
            threshold: Type.Integer({ description: 'Percentage of the budget: 50, 80 or 100.' }),
            reached_at: Timestamp,
          }),
          { description: 'Notices sent this month, by mail and webhooks.' },
        ),
      }),
    ),
    limits: Type.Array(
      Type.Object({
        ...limit,
        used_today: Records('Records charged today.'),
        used_this_month: Records('Records charged this month.'),
      }),
    ),
  },
  { title: 'UsageLimits' },
)

/** GET and PUT /api/v1/billing/limits: budgets of the organization and its projects, limits of meters. */
export const limitsRoutes =
  ({ postgres, now }: BillingDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = {
      access: { to: 'key', projectKeys: 'refused', keyRole: 'admin', limit: 'data', members: true },
    } as const
    const path = '/api/v1/billing/limits'
    const forAdmins =
      'Requires an owner, an admin or a key of the organization. A project’s budget limits only the keys of that project.'

    app.get(
      path,
      {
        config,
        schema: {
          tags,
          operationId: 'getUsageLimits',
          summary: 'Get budgets and usage limits',
          description: forAdmins,
          response: { 200: Limits },
        },
      },
      async ({ principal }) => {
        requireOrganizationAdmin(principal)
        return readLimits(postgres, principal.organizationId, now())
      },
    )

    app.put(
      path,
      {
        config: { access: { ...config.access, limit: 'usage_limits' } },
        schema: {
          tags,
          operationId: 'setUsageLimits',
          summary: 'Set all budgets and usage limits',
          description: `Budgets and limits that the request does not name are removed. ${forAdmins}`,
          body: strictObject({
            budgets: Type.Array(strictObject(budget), { maxItems: 10_000 }),
            limits: Type.Array(strictObject(limit), { maxItems: 100 }),
          }),
          response: { 200: Limits },
        },
      },
      async ({ principal, body }) => {
        requireOrganizationAdmin(principal)
        await replaceLimits(postgres, principal, body)
        return readLimits(postgres, principal.organizationId, now())
      },
    )
  }
