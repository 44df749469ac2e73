import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Principal } from '../../api/access/principal.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { Bytes } from '../../api/http/commonSchemas.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import { admit, hashesOf, settle } from '../../billing/chargedRequest.ts'
import { alikeMin } from '../../events/query/freeAnswers.ts'
import { erasedHems, everywhere, hidesPeople } from '../../events/query/suppressedPeople.ts'
import { dateOf } from '../../events/query/window.ts'
import { type Entity, entities } from '../definition/definition.ts'
import { maskRow } from '../sample/mask.ts'
import { readRules } from '../signals/rules.ts'
import { DryRunResult, dryRunAnswer } from './dryRun.ts'
import { access, previewAccess } from './intentAccess.ts'
import type { IntentDeps } from './intentDeps.ts'
import { readFields, readSubjects, topicsOf } from './intentRecords.ts'
import {
  bodyOf,
  limitOf,
  multiBodyOf,
  multiPreviewBodyOf,
  pageOf,
  previewBodyOf,
  previewOf,
  tags,
} from './intentSchemas.ts'
import { countAll, freeNumber, isOfSome } from './narrowNumbers.ts'
import {
  placeAfter,
  readTopicPlan,
  type TopicBody,
  type TopicPlace,
  type TopicPlan,
} from './topicPlan.ts'
import { type TopicRow, topicQuery } from './topicQuery.ts'

/** Most records of a preview (spec: Errors and limits). */
const previewMax = 25

const refusals = {
  404: '`audience not found`',
  409: '`not_ready`: the audience is not built yet. `cursor_stale`: the audience was rebuilt after the cursor was issued.',
}

/** Name of the subject in a record of an answer. */
const subjectOf = { people: 'person', companies: 'company' } as const

const meter = 'intent' as const

/** POST /api/v1/intent/people and /companies, by one or several topics, each with its preview. */
export const topicRoutes =
  (deps: IntentDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, billing, openQueryExecutor, now } = deps
    const cursors = deps.cursors<TopicPlace>('intent_topics')

    /** Opens the reader and reads the plan of a request. */
    const open = async (
      principal: Principal,
      entity: Entity,
      body: TopicBody,
      signal: AbortSignal,
    ) => {
      const queryExecutor = openQueryExecutor(principal, { effort: 'page', signal })
      const stores = { postgres, clickhouse: queryExecutor.clickhouse, cursors, nowMs: now() }
      return { queryExecutor, plan: await readTopicPlan(stores, principal, entity, body) }
    }

    /** Returns a plan for free figures, which also count people who opted out of the organization. */
    const countedPlan = async (plan: TopicPlan): Promise<TopicPlan> => ({
      ...plan,
      hiddenFrom: everywhere,
      erased: await erasedHems(postgres, everywhere),
    })

    /** Whether the organization ever had rules for its own events, because it can forge such events. */
    const hasRules = async ({ organizationId }: Principal) =>
      (await readRules(postgres, organizationId)).version > 0

    for (const entity of entities) {
      for (const [path, body, previewBody] of [
        [`/api/v1/intent/${entity}`, bodyOf[entity], previewBodyOf[entity]],
        [`/api/v1/intent/${entity}/multi`, multiBodyOf[entity], multiPreviewBodyOf[entity]],
      ] as const) {
        const isMulti = path.endsWith('/multi')
        const asked = isMulti ? 'several topics' : 'a topic'
        const name = `${entity === 'people' ? 'People' : 'Companies'}${isMulti ? 'ByTopics' : 'ByTopic'}`
        const whom =
          entity === 'people' ? 'Each person is one record, regardless of their addresses.' : ''
        const schema = {
          tags,
          operationId: `find${name}`,
          summary: `Find ${entity} interested in ${asked}`,
          description: `Returns records with the highest score first. Charged on the meter intent for each record of the page. ${whom} Filters cannot use fields that identify single people.`,
          body,
          response: { 200: Bytes(Type.Union([pageOf[entity], DryRunResult])) },
        }
        app.post(
          path,
          { schema, config: { access, charged: true, refusals } },
          async (request, reply) => {
            const { principal } = request
            const body: TopicBody & { select?: string; dry_run?: boolean } = request.body
            const fields = readFields(entity, body.select)
            const { organizationId } = principal
            reply.type(json)
            const { queryExecutor, plan } = await open(principal, entity, body, untilClosed(reply))
            const isTest = principal.mode === 'test'
            const isUnchosen = isTest || (!plan.isOfChosen && !(await hasRules(principal)))
            // Whether a page may tell whether more records follow.
            const isNumberFree = isTest || (isUnchosen && !isOfSome(plan))

            if (body.dry_run) {
              const counted = await countedPlan(plan)
              const isNarrow = async () =>
                !isTest && isOfSome(plan) && (await freeNumber(queryExecutor, counted)) === null
              if (!isUnchosen || (await isNarrow())) return dryRunAnswer(meter, plan.limit, false)
              // A free number includes people who opted out of the organization, so it may not be exact.
              const isExact = !(await hidesPeople(postgres, organizationId))
              const { rows } = await readTopicRows(queryExecutor, counted, isNumberFree)
              return dryRunAnswer(meter, rows.length, isExact)
            }

            const admitted = await admit(billing, request, reply, {
              meter,
              projectId: null,
              recordsMax: plan.limit,
            })

            const { rows, last } = await readTopicRows(queryExecutor, plan, isNumberFree)

            const { charged } = await settle(admitted, {
              records: rows.length,
              hashes: () => hashesOf(rows.map(({ member }) => member)),
            })

            const subjects = await readSubjects(queryExecutor, organizationId, entity, rows, fields)
            const next = last && placeAfter(plan, body, last)
            return answerOf(entity, rows, subjects, {
              count: rows.length,
              ...(next && { next_cursor: cursors.write(organizationId, next) }),
              meta: { ...metaOf(plan), charged },
            })
          },
        )

        app.post(
          `${path}/preview`,
          {
            schema: {
              tags,
              operationId: `preview${name}`,
              summary: `Preview ${entity} interested in ${asked}`,
              description: `Returns at most ${previewMax} masked records and the total number. Never charged, so your own events do not count. Filters and audiences that could describe fewer than ${alikeMin} people show no records and no count. So do other operators than eq, ne and in, an audience together with a filter, audiences of events or lists, and filters that name companies.`,
              body: previewBody,
              response: { 200: Bytes(Type.Union([previewOf[entity], DryRunResult])) },
            },
            config: { access: previewAccess, refusals },
          },
          async (request, reply) => {
            const { principal } = request
            const body: TopicBody & { select?: string; dry_run?: boolean } = request.body
            const fields = readFields(entity, body.select)
            const { limit = limitOf.default } = body
            const { queryExecutor, plan } = await open(
              principal,
              entity,
              { ...body, limit: Math.min(limit, previewMax) },
              untilClosed(reply),
            )
            reply.type(json)
            if (body.dry_run) return dryRunAnswer(meter, 0)
            const isLive = principal.mode === 'live'
            const shown = { ...plan, loadedOnly: isLive }
            const count =
              isLive && plan.isOfChosen
                ? null
                : await (isLive ? freeNumber : countAll)(queryExecutor, await countedPlan(shown))
            const found =
              count === null ? [] : await queryExecutor.rows<TopicRow>(topicQuery(shown))
            const rows = found.slice(0, plan.limit)
            const subjects = await readSubjects(
              queryExecutor,
              principal.organizationId,
              entity,
              rows,
              fields,
            )
            const masked = subjects.map((subject) => JSON.stringify(maskRow(JSON.parse(subject))))
            return answerOf(entity, rows, masked, { count, total: count, meta: metaOf(plan) })
          },
        )
      }
    }
  }

/** Reads the records of a page; `last` is the record before the next page, null on the last page. */
async function readTopicRows(queryExecutor: QueryExecutor, plan: TopicPlan, isNumberFree: boolean) {
  const found = await queryExecutor.rows<TopicRow>(topicQuery(plan))
  const rows = found.slice(0, plan.limit)
  // Where the number of records is billed, only the next page reveals whether more records follow.
  const hasMore = isNumberFree ? found.length > plan.limit : rows.length === plan.limit
  return { rows, last: hasMore ? rows.at(-1)! : null }
}

const json = 'application/json; charset=utf-8'

function answerOf(
  entity: Entity,
  rows: readonly TopicRow[],
  subjects: readonly string[],
  after: Record<string, unknown>,
): Buffer {
  const results = rows.map(({ score, topics }, index) => {
    const interest = JSON.stringify({ score, topics: topicsOf(topics) })
    return `{"${subjectOf[entity]}":${subjects[index]},${interest.slice(1)}`
  })
  return Buffer.from(`{"results":[${results.join(',')}],${JSON.stringify(after).slice(1)}`)
}

const metaOf = ({ topics, today, windowDays }: TopicPlan) => ({
  topics,
  intent_window_days: windowDays,
  start_date: dateOf(today - windowDays + 1),
  end_date: dateOf(today),
})
