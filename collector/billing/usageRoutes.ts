import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { projectFor, requireOrganizationAdmin } from '../access/permissions.ts'
import type { Principal } from '../access/principal.ts'
import { invalidParameter, projectMismatch } from '../http/errors.ts'
import { Day, exactly, Id, Nullable } from '../http/schemas.ts'
import type { BillingDeps } from './deps.ts'
import { currency } from './prices.ts'
import { Currency, MeterName, tags } from './schemas.ts'
import { readDailyUsage, readUsage, readUsageByMeter, type UsageWindow } from './usageQuery.ts'

const Query = exactly({
  project_id: Type.Optional(Id),
  start_date: Type.Optional(
    Type.String({ description: 'First day, YYYY-MM-DD, UTC. Default: the 1st of the month of end_date.' }),
  ),
  end_date: Type.Optional(Type.String({ description: 'Last day, inclusive. Default: today.' })),
})

const counts = {
  records: Type.Integer({ description: 'Records charged, less those refunded.' }),
  free_records: Type.Integer({ description: 'Of these, how many the free allowance covered.' }),
  amount_micros: Type.Integer({ description: 'What they cost, in millionths of the currency.' }),
}

const window = { project_id: Nullable(Id), start_date: Day, end_date: Day, currency: Currency }

/** GET /api/v1/billing/usage*: what was charged, for the organization or one project. */
export const usageRoutes =
  (deps: BillingDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const config = {
      access: { to: 'key', projectKeys: 'own project', keyRole: 'read', limit: 'data', members: true },
    } as const
    const description =
      'Of the whole organization, or of one project: what its keys read, and what others read of its data. A key of ' +
      'a project, and a plain member, get their own projects only. Test keys are never billed: theirs is nothing.'

    app.get(
      '/api/v1/billing/usage',
      {
        config,
        schema: {
          ...{ tags, description, operationId: 'getUsage', summary: 'Get total usage', querystring: Query },
          response: { 200: Type.Object({ ...window, ...counts }) },
        },
      },
      async ({ principal, query }) => {
        const asked = await readWindow(deps, principal, query)
        return { ...publicWindow(asked), ...(await readUsage(deps.postgres, asked)) }
      },
    )

    app.get(
      '/api/v1/billing/usage/by-meter',
      {
        config,
        schema: {
          ...{
            tags,
            description,
            operationId: 'getUsageByMeter',
            summary: 'Get usage by meter',
            querystring: Query,
          },
          response: {
            200: Type.Object({
              ...window,
              meters: Type.Array(Type.Object({ meter: MeterName, ...counts })),
            }),
          },
        },
      },
      async ({ principal, query }) => {
        const asked = await readWindow(deps, principal, query)
        return { ...publicWindow(asked), meters: await readUsageByMeter(deps.postgres, asked) }
      },
    )

    app.get(
      '/api/v1/billing/usage/daily-by-meter',
      {
        config,
        schema: {
          ...{
            tags,
            operationId: 'getDailyUsageByMeter',
            summary: 'Get daily usage by meter',
            querystring: Query,
          },
          description: `${description} Days without usage are left out.`,
          response: {
            200: Type.Object({
              ...window,
              daily: Type.Array(Type.Object({ date: Day, meter: MeterName, ...counts })),
            }),
          },
        },
      },
      async ({ principal, query }) => {
        const asked = await readWindow(deps, principal, query)
        return { ...publicWindow(asked), daily: await readDailyUsage(deps.postgres, asked) }
      },
    )
  }

const daysMax = 366
const dayMs = 86_400_000

/** Whose usage of which days a request may see. Throws 400, 403 and 404. */
async function readWindow(
  { postgres, now }: BillingDeps,
  principal: Principal,
  query: Static<typeof Query>,
): Promise<UsageWindow> {
  const endDate = readDay('end_date', query.end_date) ?? new Date(now()).toISOString().slice(0, 10)
  const startDate = readDay('start_date', query.start_date) ?? `${endDate.slice(0, 7)}-01`
  if (startDate > endDate) throw invalidParameter('start_date', 'is after end_date')
  if (Date.parse(endDate) - Date.parse(startDate) >= daysMax * dayMs) {
    throw invalidParameter('start_date', `must be less than ${daysMax} days before end_date`)
  }
  return {
    organizationId: principal.mode === 'test' ? null : principal.organizationId,
    projectId: await readProject(postgres, principal, query.project_id?.toLowerCase()),
    ...{ startDate, endDate },
  }
}

/** The project whose usage is asked for; null for the whole organization. */
async function readProject(
  postgres: BillingDeps['postgres'],
  principal: Principal,
  asked: string | undefined,
): Promise<string | null> {
  if (principal.projectId !== null) {
    if (asked !== undefined && asked !== principal.projectId) throw projectMismatch()
    return principal.projectId
  }
  if (asked === undefined) {
    requireOrganizationAdmin(principal)
    return null
  }
  return (await projectFor(postgres, principal, asked, 'read')).projectId
}

function readDay(parameter: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text)
  if (!isDay) throw invalidParameter(parameter, 'must be a day, YYYY-MM-DD')
  return text
}

const publicWindow = ({ projectId, startDate, endDate }: UsageWindow) => ({
  project_id: projectId,
  start_date: startDate,
  end_date: endDate,
  currency,
})
