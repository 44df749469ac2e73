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
import { isShare } from './sharePolicy.ts'
import { type PeriodRow, periodQuery, type Totals } from './totalsQuery.ts'

const count = (description: string) => Type.Integer({ description })

const Overview = Type.Object(
  {
    events: count('Events.'),
    visitors: count('Distinct cookies. Without consent a cookie lasts one day.'),
    page_views: count('Number of page views.'),
    sessions: count(
      'Sessions that start in the window and, with filters on events, have a matching event.',
    ),
    bounce_rate: Nullable(Type.Number(), {
      description:
        'Share of these sessions with exactly one page view among those with page views: from 0 to 1. Includes page views ' +
        'that the filter excludes. Null without such sessions.',
    }),
    time_on_page_ms: Nullable(Type.Number(), {
      description:
        'Mean time on a page of these sessions in milliseconds. It is measured to the next page view, and for the last ' +
        'page to the last event of the session. Null without page views.',
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
          readPeriod(queryExecutor, plan),
          request.query.compare ? readPeriod(queryExecutor, before(plan)) : null,
          readImportedTotals(queryExecutor, plan),
        ])
        return {
          overview,
          bots: isShare(request.principal) ? null : bots,
          previous: previous?.overview ?? null,
          ...imported,
          meta: metaOf(request, plan),
        }
      },
    )
  }

/** Reads the figures of a plan, and those of the bots that match it. */
export async function readPeriod(
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
): Promise<{ overview: Figures; bots: Totals }> {
  const [row] = await queryExecutor.rows<PeriodRow>(periodQuery(plan))
  const { events, visitors, page_views, sessions, viewing_sessions, viewed_pages } = row!
  return {
    overview: {
      events,
      visitors,
      page_views,
      sessions,
      bounce_rate: viewing_sessions === 0 ? null : row!.bounced_sessions / viewing_sessions,
      time_on_page_ms: viewed_pages === 0 ? null : row!.page_ms / viewed_pages,
    },
    bots: {
      events: row!.bot_events,
      visitors: row!.bot_visitors,
      page_views: row!.bot_page_views,
    },
  }
}
