import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import type { Principal } from '../../api/access/principal.ts'
import { Day, strictObject } from '../../api/http/commonSchemas.ts'
import { invalidParameter } from '../../api/http/errors.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import { bindings } from '../../events/query/bind.ts'
import {
  erasedHems,
  isSuppressed,
  suppressedPeople,
} from '../../events/query/profiles/suppressedPeople.ts'
import type { ReadDeps } from '../../events/query/readDeps.ts'
import { personOf } from '../../identity/store/personSql.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import { dayMs } from '../../platform/days.ts'
import { type SignalSpan, signalsOf } from '../signals/signalsQuery.ts'
import { requireTopics } from '../signals/topics.ts'
import { freeAccess, TopicId, tags } from './intentSchemas.ts'

const daysDefault = 30
/** The most days of one request. */
const daysMax = 366
const daysOfEachMax = 31

const days = {
  start_date: Type.Optional({
    ...Day,
    description: `First day, YYYY-MM-DD, UTC. Default: ${daysDefault} days with end_date.`,
  }),
  end_date: Type.Optional({ ...Day, description: 'Last day, inclusive. Default: today.' }),
}

const counts = {
  signals: Type.Integer({ description: 'Signals.' }),
  people: Type.Integer({ description: 'Distinct people per day.' }),
  companies: Type.Integer({ description: 'Distinct companies.' }),
}

const about =
  'Returns signals that the operator loaded and those from the organization’s own events. Days without signals are omitted. Never charged.'

/** GET /api/v1/stats/tables/intent-daily-stats and …/intent-daily-per-topic-stats: signals by day. */
export const statsRoutes =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, openQueryExecutor, now } = deps

    const read = async <Row>(
      principal: Principal,
      query: { start_date?: string; end_date?: string; topic?: string },
      isPerTopic: boolean,
      signal: AbortSignal,
    ): Promise<Row[]> => {
      const { organizationId } = principal
      const mostDays = isPerTopic && query.topic === undefined ? daysOfEachMax : daysMax
      const span = readDays(query, now(), mostDays)
      const queryExecutor = openQueryExecutor(principal, { effort: 'scan', signal })
      const topics = query.topic === undefined ? null : [query.topic]
      if (topics) await requireTopics(queryExecutor.clickhouse, 'topic', topics)
      const erased = await erasedHems(postgres, organizationId)
      return queryExecutor.rows<Row>(
        statsQuery({ ...span, organizationId, topics, isPerTopic, erased }),
      )
    }

    const Total = Type.Object(
      { date: Day, ...counts, topics: Type.Integer({ description: 'Distinct topics.' }) },
      { title: 'IntentDailyStats' },
    )
    app.get(
      '/api/v1/stats/tables/intent-daily-stats',
      {
        config: { access: freeAccess },
        schema: {
          tags,
          operationId: 'getIntentDailyStats',
          summary: 'List intent signals by day',
          description: about,
          querystring: strictObject({ ...days, topic: Type.Optional(TopicId) }),
          response: { 200: Type.Object({ rows: Type.Array(Total) }) },
        },
      },
      async ({ principal, query }, reply) => ({
        rows: await read<Static<typeof Total>>(principal, query, false, untilClosed(reply)),
      }),
    )

    const OfTopic = Type.Object(
      { date: Day, topic: Type.String(), ...counts },
      { title: 'IntentDailyTopicStats' },
    )
    app.get(
      '/api/v1/stats/tables/intent-daily-per-topic-stats',
      {
        config: { access: freeAccess },
        schema: {
          tags,
          operationId: 'getIntentDailyTopicStats',
          summary: 'List intent signals by day and topic',
          description: `${about} At most ${daysMax} days for one topic, or ${daysOfEachMax} days for all.`,
          querystring: strictObject({ ...days, topic: Type.Optional(TopicId) }),
          response: { 200: Type.Object({ rows: Type.Array(OfTopic) }) },
        },
      },
      async ({ principal, query }, reply) => ({
        rows: await read<Static<typeof OfTopic>>(principal, query, true, untilClosed(reply)),
      }),
    )
  }

/** Reads the days of a request, since 1970. Throws 400 that names the parameter. */
function readDays(
  { start_date, end_date }: { start_date?: string; end_date?: string },
  nowMs: number,
  mostDays: number,
): { firstDay: number; lastDay: number } {
  const dayOf = (date: string) => Date.parse(`${date}T00:00:00Z`) / dayMs
  const lastDay = end_date === undefined ? Math.floor(nowMs / dayMs) : dayOf(end_date)
  const firstDay = start_date === undefined ? lastDay - daysDefault + 1 : dayOf(start_date)
  if (firstDay < 0) throw invalidParameter('start_date', 'must be 1970-01-01 or later')
  if (firstDay > lastDay) throw invalidParameter('start_date', 'must not be after end_date')
  if (lastDay - firstDay >= mostDays) {
    throw invalidParameter('start_date', `must be less than ${mostDays} days before end_date`)
  }
  return { firstDay, lastDay }
}

/** Signals of each day, or of each day and topic. */
interface StatsPlan extends SignalSpan {
  readonly isPerTopic: boolean
  /** Hems of people whom the organization is erasing. */
  readonly erased: readonly string[]
}

/** Selects the numbers of signals, people and companies per day, earliest first, without people who opted out. */
function statsQuery(plan: StatsPlan): Query {
  const { bind, params } = bindings()
  const columns = plan.isPerTopic ? ['date', 'topic'] : ['date']
  const hidden = suppressedPeople(plan.organizationId, plan.erased, bind)
  const sql = `SELECT ${columns.map((name) => `toString(${name}) AS ${name}`).join(', ')}, sum(times) AS signals,
  uniqExactIf(member, hem_number != 0) AS people, uniqExactIf(company_domain, company_domain != '') AS companies${plan.isPerTopic ? '' : ', uniqExact(topic) AS topics'}
FROM (
SELECT ${personOf('hem_number')} AS member, hem_number, company_domain, topic, date, times
FROM (
${signalsOf(plan, bind)}
)
WHERE NOT ${isSuppressed('hem_number', hidden)}
)
GROUP BY ${columns.join(', ')}
ORDER BY ${columns.join(', ')}`
  return { sql, params }
}
