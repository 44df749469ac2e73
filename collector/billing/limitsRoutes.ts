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
    description: 'null: the budget of the whole organization.',
  }),
  monthly_micros: Micros('Most that a calendar month (UTC) may cost.'),
}
const limit = {
  meter: MeterName,
  daily_records: Nullable(Records('Most records a day, UTC; null: any number.')),
  monthly_records: Nullable(Records('Most records a calendar month, UTC; null: any number.')),
}

const Limits = Type.Object(
  {
    currency: Currency,
    shut_off: Type.Boolean({ description: 'Usage is paused by whoever runs the service.' }),
    budgets: Type.Array(
      Type.Object({
        ...budget,
        spent_micros: Micros('Spent this month.'),
        alerts: Type.Array(
          Type.Object({
            threshold: Type.Integer({ description: 'Per cent of the budget: 50, 80 or 100.' }),
            reached_at: Timestamp,
          }),
          { description: 'What was told this month, by mail and webhooks.' },
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
      'For owners, admins and organization keys. A project’s budget binds its own keys only.'

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
          description: `What is not named has none any more. ${forAdmins}`,
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
