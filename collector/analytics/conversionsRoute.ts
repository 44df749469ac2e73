import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { projectFor } from '../api/access/policy.ts'
import type { Principal } from '../api/access/principal.ts'
import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import { Id, Nullable, strictObject } from '../api/http/commonSchemas.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import { Amount, behaviorTags, FiguresMeta, metaOf, Revenue } from './analyticsSchemas.ts'
import { conversionsQuery } from './conversionsQuery.ts'
import {
  type AnalyticsPlan,
  before,
  Compare,
  readFiguresRequest,
  selectionQuery,
} from './figuresRequest.ts'
import { conditionsOf, type Goal, readGoals, revenueOf } from './goals.ts'
import { mayRead, openFigures } from './openFigures.ts'
import { isShare } from './sharePolicy.ts'

const Rate = Nullable(Type.Number(), {
  description:
    'Visitors of the goal, relative to all visitors that match the filter: from 0 to 1. Null without visitors.',
})

const Conversions = Type.Array(
  Type.Object(
    {
      name: Type.String(),
      filter: Type.String({ description: 'The filter of the goal. Empty for share links.' }),
      events: Type.Integer({ description: 'Events that match the goal.' }),
      visitors: Type.Integer({ description: 'Distinct cookies of these events.' }),
      rate: Rate,
      revenue: Revenue,
      missing_values: Nullable(
        Type.Object(
          {
            property: Type.String({
              description: 'Path into event_data that the value of the goal names.',
            }),
            events: Type.Integer({
              description:
                'Events of the goal without a number there. They add nothing to `revenue`.',
            }),
          },
          { title: 'AnalyticsMissingValues', additionalProperties: false },
        ),
        {
          description:
            'Events that lack the value of the goal. Null if the goal has no value, and for share links.',
        },
      ),
    },
    { title: 'AnalyticsConversion', additionalProperties: false },
  ),
)

const Converted = Type.Object(
  {
    visitors: Type.Integer({
      description: 'Distinct cookies that reach at least one of the goals.',
    }),
    rate: Rate,
    revenue: Type.Array(Amount, {
      description:
        'The values of the events of all goals, by currency. An event of several goals that have the same value counts once.',
    }),
  },
  { title: 'AnalyticsConverted', additionalProperties: false },
)

const describe = {
  tags: behaviorTags,
  operationId: 'getAnalyticsConversions',
  summary: 'Get the conversions of the goals of a project, not billed',
  description:
    'Returns the conversions of each goal. An event is a conversion if it matches the filter of the goal and the filter of the request.',
  querystring: strictObject({ ...selectionQuery, project_id: Id, compare: Type.Optional(Compare) }),
  response: {
    200: Type.Object(
      {
        conversions: Conversions,
        converted: Converted,
        previous: Nullable(
          Type.Object(
            { conversions: Conversions, converted: Converted },
            { additionalProperties: false },
          ),
          { description: 'The previous period. Null without compare.' },
        ),
        meta: FiguresMeta,
      },
      { description: 'The goals, in their order.' },
    ),
  },
}

export const conversionsRoute =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/analytics/conversions',
      { schema: describe, config: { access: mayRead } },
      async (request, reply) => {
        const asked = readFiguresRequest(request, deps.now())
        const { queryExecutor, plan } = await openFigures(deps, request.principal, asked, reply)
        const projectId = await projectOf(
          deps.postgres,
          request.principal,
          request.query.project_id,
        )
        const { goals } = await readGoals(deps.postgres, projectId)
        const [now, previous] = await Promise.all([
          readConversions(queryExecutor, plan, goals),
          request.query.compare ? readConversions(queryExecutor, before(plan), goals) : null,
        ])
        const seen = isShare(request.principal) ? withoutFilters : same
        return { ...seen(now), previous: previous && seen(previous), meta: metaOf(request, plan) }
      },
    )
  }

async function readConversions(
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
  goals: readonly Goal[],
) {
  const sums = goalsOfOneValue(goals)
  const [found] = await queryExecutor.rows<Record<string, number>>(
    conversionsQuery(plan, goals.map(conditionsOf), sums),
  )
  const all = found!.visitors!
  const rateOf = (visitors: number) => (all === 0 ? null : visitors / all)
  return {
    conversions: goals.map((goal, index) => {
      const visitors = found![`visitors_${index}`]!
      return {
        name: goal.name,
        filter: goal.filter,
        events: found![`events_${index}`]!,
        visitors,
        rate: rateOf(visitors),
        revenue: revenueOf(goal, found![`value_${index}`]!),
        missing_values: goal.value
          ? { property: goal.value.property, events: found![`missing_${index}`]! }
          : null,
      }
    }),
    converted: {
      visitors: found!.converted!,
      rate: rateOf(found!.converted!),
      revenue: byCurrency(
        sums.map((group, index) => ({
          currency: goals[group[0]!]!.value!.currency,
          value: found![`sum_${index}`]!,
        })),
      ),
    },
  }
}

/** Groups of goals that have the same property and currency as their value, by their indexes. */
function goalsOfOneValue(goals: readonly Goal[]): number[][] {
  const groups = new Map<string, number[]>()
  for (const [index, { value }] of goals.entries()) {
    if (!value) continue
    const key = JSON.stringify([value.currency, value.property])
    groups.set(key, [...(groups.get(key) ?? []), index])
  }
  return [...groups.values()]
}

/** Adds amounts up by currency. They are not converted. */
function byCurrency(amounts: readonly Static<typeof Amount>[]): Static<typeof Amount>[] {
  const sums = new Map<string, number>()
  for (const { currency, value } of amounts) sums.set(currency, (sums.get(currency) ?? 0) + value)
  return [...sums].map(([currency, value]) => ({ currency, value }))
}

type Found = Awaited<ReturnType<typeof readConversions>>

const same = (found: Found): Found => found

/** Goals by their names alone: a share link does not show the addresses and properties that they read. */
const withoutFilters = ({ conversions, converted }: Found): Found => ({
  conversions: conversions.map((conversion) => ({
    ...conversion,
    filter: '',
    missing_values: null,
  })),
  converted,
})

/** The project whose goals the caller may see: a share link's own, else the one that the request names. */
async function projectOf(
  postgres: ReadDeps['postgres'],
  principal: Principal,
  asked: string,
): Promise<string> {
  if (isShare(principal)) return principal.projectId!
  return (await projectFor(postgres, principal, 'events', asked, 'read')).projectId
}
