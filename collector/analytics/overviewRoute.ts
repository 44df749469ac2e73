import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import { Nullable, strictObject } from '../api/http/commonSchemas.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import { FiguresMeta, metaOf, tags } from './analyticsSchemas.ts'
import {
  type AnalyticsPlan,
  before,
  Compare,
  readFiguresRequest,
  selectionQuery,
} from './figuresRequest.ts'
import { ImportedTotals, readImportedTotals } from './imported/importedDays.ts'
import { mayRead, openFigures } from './openFigures.ts'
import { readRollup } from './rollup/rolledDays.ts'
import { type SessionTotals, sessionEventTotalsQuery, sessionTotalsQuery } from './sessionsQuery.ts'
import { selectsSessions } from './sessionsSql.ts'
import { isShare } from './sharePolicy.ts'
import {
  type Totals,
  type TotalsWithBots,
  totalsQuery,
  totalsWithBotsQuery,
} from './totalsQuery.ts'

const count = (description: string) => Type.Integer({ description })

const Overview = Type.Object(
  {
    events: count('Events.'),
    visitors: count('Distinct cookies. Without consent a cookie lasts one day.'),
    page_views: count('Number of page views.'),
    sessions: count('Distinct session_id of the events.'),
    bounce_rate: Nullable(Type.Number(), {
      description:
        'Share of sessions with exactly one page view among sessions with page views: from 0 to 1. Includes page views that ' +
        'the filter excludes. Null without such sessions.',
    }),
    time_on_page_ms: Nullable(Type.Number(), {
      description:
        'Mean time on a page in milliseconds. It is measured to the next page view, and for the last page to the ' +
        'last event of the session. Null without page views.',
    }),
  },
  { title: 'AnalyticsOverview', additionalProperties: false },
)

const BotTotals = Type.Object(
  {
    events: count('Events with `is_bot`.'),
    visitors: count(
      'Distinct cookies of these events. A cookie that also has other events is also in `overview`.',
    ),
    page_views: count('Number of page views among these events.'),
  },
  { title: 'AnalyticsBots', additionalProperties: false },
)

const describe = {
  tags,
  operationId: 'getAnalyticsOverview',
  summary: 'Get the metrics of a period, not billed',
  description:
    'Returns the metrics of one project, one pixel or the organization, from the events that pixels recorded. ' +
    'Bots are excluded unless `include_bots=true`. `bots` counts them in both cases.',
  querystring: strictObject({ ...selectionQuery, compare: Type.Optional(Compare) }),
  response: {
    200: Type.Object(
      {
        overview: Overview,
        bots: Nullable(BotTotals, {
          description:
            'Events of bots in the period that match the filter. They are counted here even if `overview` includes them. ' +
            'Null for share links.',
        }),
        previous: Nullable(Overview, {
          description: 'The previous period. Null without compare.',
        }),
        imported: Type.Optional(ImportedTotals),
        meta: FiguresMeta,
      },
      { description: 'The figures.' },
    ),
  },
}

export type Figures = Static<typeof Overview>

/** GET /api/v1/analytics/overview. Never billed. */
export const overviewRoute =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/analytics/overview',
      { schema: describe, config: { access: mayRead } },
      async (request, reply) => {
        const opened = await openFigures(
          deps,
          request.principal,
          readFiguresRequest(request, deps.now()),
          reply,
        )
        const { queryExecutor, plan } = opened
        const [{ overview, bots }, previous, imported] = await Promise.all([
          isShare(request.principal)
            ? readOverview(queryExecutor, plan).then((overview) => ({ overview, bots: null }))
            : readWithBots(queryExecutor, plan),
          request.query.compare ? readOverview(queryExecutor, before(plan)) : null,
          readImportedTotals(queryExecutor, plan),
        ])
        return {
          overview,
          bots,
          previous,
          ...imported,
          meta: metaOf(request, plan),
        }
      },
    )
  }

/** Reads the figures of a plan. */
export const readOverview = async (
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
): Promise<Figures> =>
  isFiltered(plan)
    ? readFiltered(queryExecutor, plan)
    : (await readUnfiltered(queryExecutor, plan)).overview

interface WithBots {
  readonly overview: Figures
  readonly bots: Totals
}

/** Reads the figures of a plan, and those of its bots. */
async function readWithBots(queryExecutor: QueryExecutor, plan: AnalyticsPlan): Promise<WithBots> {
  if (!isFiltered(plan)) return readUnfiltered(queryExecutor, plan)
  const [overview, bots] = await Promise.all([
    readFiltered(queryExecutor, plan),
    readBots(queryExecutor, plan),
  ])
  return { overview, bots }
}

const isFiltered = ({ filters, sessionFilters = [] }: AnalyticsPlan): boolean =>
  filters.length + sessionFilters.length > 0

async function readUnfiltered(
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
): Promise<WithBots> {
  const rollup = await readRollup(queryExecutor, plan)
  const [[totals], [sessions]] = await Promise.all([
    queryExecutor.rows<TotalsWithBots>(totalsWithBotsQuery(plan, rollup.events)),
    queryExecutor.rows<SessionTotals>(sessionTotalsQuery(plan, rollup.sessions)),
  ])
  return { overview: figuresOf({ ...totals!, ...sessions! }), bots: botsOf(totals!) }
}

/** Filters may depend on the position in a session, which bots change. So bots are read by a query of their own. */
async function readFiltered(queryExecutor: QueryExecutor, plan: AnalyticsPlan): Promise<Figures> {
  const { sessions: rolled } = await readRollup(queryExecutor, plan)
  if (selectsSessions(plan)) {
    const [found] = await queryExecutor.rows<Totals & SessionTotals>(
      sessionEventTotalsQuery(plan, rolled),
    )
    return figuresOf(found!)
  }
  const [[totals], [sessions]] = await Promise.all([
    queryExecutor.rows<Totals>(totalsQuery(plan)),
    queryExecutor.rows<SessionTotals>(sessionTotalsQuery(plan, rolled)),
  ])
  return figuresOf({ ...totals!, ...sessions! })
}

/** Reads the figures of bots in a filtered plan. */
async function readBots(queryExecutor: QueryExecutor, plan: AnalyticsPlan): Promise<Totals> {
  if (selectsSessions(plan)) {
    // Counts of days tell at once when there are no bots. Those of selected sessions must be read from events.
    const all = { ...plan, filters: [], sessionFilters: [] }
    const { events } = await readRollup(queryExecutor, all)
    const [found] = await queryExecutor.rows<TotalsWithBots>(totalsWithBotsQuery(all, events))
    if (found!.bot_events === 0) return botsOf(found!)
  }
  const [totals] = await queryExecutor.rows<Totals>(totalsQuery({ ...plan, bots: 'only' }))
  return totals!
}

const figuresOf = ({
  events,
  visitors,
  page_views,
  sessions,
  viewing_sessions,
  bounced_sessions,
  page_ms,
}: Totals & SessionTotals): Figures => ({
  events,
  visitors,
  page_views,
  sessions,
  bounce_rate: viewing_sessions === 0 ? null : bounced_sessions / viewing_sessions,
  time_on_page_ms: page_views === 0 ? null : page_ms / page_views,
})

const botsOf = ({ bot_events, bot_visitors, bot_page_views }: TotalsWithBots): Totals => ({
  events: bot_events,
  visitors: bot_visitors,
  page_views: bot_page_views,
})
