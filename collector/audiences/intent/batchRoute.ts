import { text } from 'node:stream/consumers'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { hemAsNumber } from '../../../schemas/fields.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { Bytes, Nullable, strictObject } from '../../api/http/commonSchemas.ts'
import { ApiError } from '../../api/http/errors.ts'
import { ItemError, itemErrorOf } from '../../api/http/itemErrors.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import { ChargedMeta, chargedMeta } from '../../billing/chargedMeta.ts'
import { admit, hashesOf, settle } from '../../billing/chargedRequest.ts'
import {
  countAskable,
  hemsOf,
  type Item,
  itemsMax,
  readItems,
} from '../../events/lookup/batchItems.ts'
import { bindings } from '../../events/query/bind.ts'
import { erasedHems } from '../../events/query/profiles/suppressedPeople.ts'
import type { ReadDeps } from '../../events/query/readDeps.ts'
import { hemsOfPerson, personOf } from '../../identity/store/personSql.ts'
import type { ListQuery } from '../../platform/clickhouse/client.ts'
import { dayMs } from '../../platform/days.ts'
import { type InterestPlan, windowDaysDefault } from '../signals/interestPlan.ts'
import { peopleInterest } from '../signals/interestQuery.ts'
import { requireTopics } from '../signals/topics.ts'
import { DryRun, DryRunResult, dryRunAnswer } from './dryRun.ts'
import { access, IntentWindowDays, TopicIds, TopicInterest, tags } from './intentSchemas.ts'
import { type TopicRow, topicsColumn } from './topicQuery.ts'

const meter = 'intent' as const

/** Most bytes of a batch: 10,000 items with long ids and addresses. */
const batchBytesMax = 8 * 1024 * 1024

const Answer = Type.Object({
  results: Type.Array(
    Type.Object(
      {
        id: Nullable(Type.String(), { description: 'The id of the item.' }),
        matched: Type.Optional(
          Type.Boolean({
            description:
              'Whether the person is interested in any of the topics, by any of their addresses.',
          }),
        ),
        topics: Type.Optional(
          Type.Array(TopicInterest, { description: 'Topics, strongest first.' }),
        ),
        error: Type.Optional(ItemError),
      },
      { title: 'IntentResult', description: 'Items with an error have no other fields.' },
    ),
  ),
  count: Type.Integer({ description: 'Items.' }),
  matched: Type.Integer({ description: 'Items that matched.' }),
  charged: Type.Integer({ description: 'Records charged.' }),
  meta: ChargedMeta,
})

const describeBatch = {
  tags,
  operationId: 'lookUpIntent',
  summary: 'Look up the intent of people',
  description:
    'Returns results in the order of the items, at most 10,000. Charges each matched item on the meter intent; misses and items with errors are free. An address matches through any other address of the person. A dry run takes one of the day’s free answers.',
  body: strictObject({
    items: Type.Array(
      Type.Unknown({
        description:
          '{ "id": string of at most 255 characters, optional and not unique, "email" or "hem": string }. Invalid items have an error in their result and do not affect the others.',
      }),
      { minItems: 1, maxItems: itemsMax },
    ),
    topics: Type.Optional({
      ...TopicIds,
      description: 'Only these topics. Default: all.',
    }),
    intent_window_days: Type.Optional(IntentWindowDays),
    dry_run: DryRun,
  }),
  response: { 200: Bytes(Type.Union([Answer, DryRunResult])) },
}

/** POST /api/v1/intent/batch: returns the interests of the people with these e-mail addresses. */
export const batchRoute =
  ({ postgres, allowance, billing, openQueryExecutor, now }: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/api/v1/intent/batch',
      {
        schema: describeBatch,
        config: { access, charged: true, freeAnswers: true },
        bodyLimit: batchBytesMax,
      },
      async (request, reply) => {
        const { principal, body } = request
        const { organizationId } = principal
        const items = readItems(body.items, { requiresId: true })
        const queryExecutor = openQueryExecutor(principal, {
          effort: 'page',
          signal: untilClosed(reply),
        })
        if (body.topics) await requireTopics(queryExecutor.clickhouse, 'topics', body.topics)
        reply.type('application/json; charset=utf-8')

        const plan: InterestPlan = {
          organizationId,
          topics: body.topics ?? null,
          today: Math.floor(now() / dayMs),
          windowDays: body.intent_window_days ?? windowDaysDefault,
          erased: await erasedHems(postgres, organizationId),
        }
        if (body.dry_run) {
          await allowance.takeForRequest(request)
          const { matched } = await readMatches(queryExecutor, plan, items)
          return dryRunAnswer(meter, matched.length)
        }

        const admitted = await admit(billing, request, reply, {
          meter,
          projectId: null,
          recordsMax: countAskable(items),
        })

        const { interest, matched } = await readMatches(queryExecutor, plan, items)

        const { charged } = await settle(admitted, {
          records: matched.length,
          hashes: () => hashesOf(matched.map(({ index }) => String(index))),
        })

        const counts = {
          count: items.length,
          matched: matched.length,
          charged,
          meta: chargedMeta(meter, matched.length, charged),
        }
        const results = resultsOf(items, interest).join(',')
        return Buffer.from(`{"results":[${results}],${JSON.stringify(counts).slice(1)}`)
      },
    )
  }

/** Reads the topics of the people in items, by the item's hem, and the items with topics. */
async function readMatches(
  queryExecutor: QueryExecutor,
  plan: InterestPlan,
  items: readonly Item[],
) {
  const interest = await readInterest(queryExecutor, plan, hemsOf(items))
  const matched = items.filter(
    ({ hemOrError: asked }) => !(asked instanceof ApiError) && interest.has(asked),
  )
  return { interest, matched }
}

async function readInterest(
  queryExecutor: QueryExecutor,
  plan: InterestPlan,
  hems: readonly string[],
): Promise<ReadonlyMap<string, TopicRow['topics']>> {
  if (hems.length === 0) return new Map()
  const { body } = await queryExecutor.stream(batchQuery(plan, hems), 'JSONEachRow')
  const rows = (await text(body)).split('\n').filter(Boolean)
  return new Map(
    rows.map((line) => {
      const { hem, topics } = JSON.parse(line) as { hem: string; topics: TopicRow['topics'] }
      return [hem, topics]
    }),
  )
}

const resultsOf = (
  items: readonly Item[],
  found: ReadonlyMap<string, TopicRow['topics']>,
): string[] =>
  items.map(({ index, id, hemOrError: asked }) => {
    if (asked instanceof ApiError) return JSON.stringify({ id, error: itemErrorOf(index, asked) })
    const topics = found.get(asked)
    return JSON.stringify({ id, matched: topics !== undefined, topics: topics ?? [] })
  })

const requestedHems = 'asked_hems'

/** Selects `hem` and `topics`, the strongest first, for each of `hems` with interests. */
export function batchQuery(plan: InterestPlan, hems: readonly string[]): ListQuery {
  const { bind, params } = bindings()
  const requested = `SELECT value AS hem, ${hemAsNumber('value')} AS hem_number FROM ${requestedHems}`
  // Materialized once, because several parts look up signals by it.
  const held = 'SELECT arrayJoin(held_hems) AS hem_number'
  const sql = `WITH (SELECT groupUniqArrayArray(${hemsOfPerson('hem_number')}) FROM (${requested})) AS held_hems
SELECT hem, topics
FROM (SELECT hem, ${personOf('hem_number')} AS member FROM (${requested})) AS asked
INNER JOIN (
SELECT member, ${topicsColumn} AS topics
FROM (
${peopleInterest(plan, bind, held)}
)
GROUP BY member
) AS found ON asked.member = found.member`
  return { sql, params, lists: { [requestedHems]: hems } }
}
