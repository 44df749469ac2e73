import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { Field } from '../../../schemas/fields.ts'
import type { Principal } from '../../api/access/principal.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { Bytes } from '../../api/http/commonSchemas.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import { admit, hashesOf, settle } from '../../billing/chargedRequest.ts'
import type { ReadDeps } from '../../events/query/readDeps.ts'
import { readCompanies, readCompanyFields } from '../../identity/store/companies.ts'
import { personFields, readPeople, readPersonFields } from '../../identity/store/people.ts'
import { dateOf } from '../../platform/days.ts'
import { type Entity, entities } from '../definition/definition.ts'
import { freeRowsMax, freeRowsSalt, maskRow, namedPeopleMin } from '../sample/mask.ts'
import { DryRunResult, dryRunAnswer } from './dryRun.ts'
import {
  access,
  bodyOf,
  limitOf,
  multiBodyOf,
  multiPreviewBodyOf,
  pageOf,
  previewAccess,
  previewBodyOf,
  previewOf,
  tags,
} from './intentSchemas.ts'
import {
  placeAfter,
  readTopicPlan,
  type TopicBody,
  type TopicPlan,
  type TopicPosition,
  topicQuestion,
} from './topicPlan.ts'
import { type PreviewRow, previewQuery, type TopicRow, topicQuery } from './topicQuery.ts'

const refusals = {
  404: '`audience not found`',
  409: '`not_ready`: the audience is not built yet. `cursor_stale`: the audience was rebuilt after the cursor was issued.',
}

/** Name of the subject in a record of an answer. */
const subjectOf = { people: 'person', companies: 'company' } as const

const meter = 'intent' as const

/** POST /api/v1/intent/people and /companies, by one or several topics, each with its preview. */
export const topicRoutes =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { allowance, postgres, billing, openQueryExecutor, now } = deps
    const cursors = deps.cursors<TopicPosition>('intent_topics')

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

    for (const entity of entities) {
      for (const [path, body, previewBody] of [
        [`/api/v1/intent/${entity}`, bodyOf[entity], previewBodyOf[entity]],
        [`/api/v1/intent/${entity}/multi`, multiBodyOf[entity], multiPreviewBodyOf[entity]],
      ] as const) {
        const isMulti = path.endsWith('/multi')
        const topicsText = isMulti ? 'several topics' : 'a topic'
        const name = `${entity === 'people' ? 'People' : 'Companies'}${isMulti ? 'ByTopics' : 'ByTopic'}`
        const whom =
          entity === 'people' ? 'Each person is one record, regardless of their addresses.' : ''
        const schema = {
          tags,
          operationId: `find${name}`,
          summary: `Find ${entity} interested in ${topicsText}`,
          description: `Returns records with the highest score first. Charged on the meter intent for each record of the page. ${whom} Filters cannot use fields that identify single people. A dry run takes one of the day’s free answers.`,
          body,
          response: { 200: Bytes(Type.Union([pageOf[entity], DryRunResult])) },
        }
        app.post(
          path,
          { schema, config: { access, charged: true, freeAnswers: true, refusals } },
          async (request, reply) => {
            const { principal } = request
            const body: TopicBody & { select?: string; dry_run?: boolean } = request.body
            const fields = readFields(entity, body.select)
            const { organizationId } = principal
            reply.type(json)
            const { queryExecutor, plan } = await open(principal, entity, body, untilClosed(reply))
            if (body.dry_run) {
              await allowance.takeForRequest(request, plan.buildId)
              const { rows } = await readTopicRows(queryExecutor, plan)
              return dryRunAnswer(meter, rows.length)
            }

            const admitted = await admit(billing, request, reply, {
              meter,
              projectId: null,
              recordsMax: plan.limit,
            })

            const { rows, last } = await readTopicRows(queryExecutor, plan)

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
              summary: `Preview ${entity} interested in ${topicsText}`,
              description: `Returns at most ${freeRowsMax} masked records and the exact number of all. Never charged, but it takes one of the day’s free answers. The same request shows the same records all day. An audience of fewer than ${namedPeopleMin} people shows no records, only its number.`,
              body: previewBody,
              response: { 200: Bytes(Type.Union([previewOf[entity], DryRunResult])) },
            },
            config: { access: previewAccess, freeAnswers: true, refusals },
          },
          async (request, reply) => {
            const { principal } = request
            const body: TopicBody & { select?: string; dry_run?: boolean } = request.body
            const fields = readFields(entity, body.select)
            const { limit = limitOf.default } = body
            const { queryExecutor, plan } = await open(
              principal,
              entity,
              { ...body, limit: Math.min(limit, freeRowsMax) },
              untilClosed(reply),
            )
            reply.type(json)
            if (body.dry_run) return dryRunAnswer(meter, 0)
            await allowance.takeForRequest(request, plan.buildId)
            const salt = freeRowsSalt(now(), [topicQuestion(entity, body)])
            const members = await queryExecutor.rows<PreviewRow>(previewQuery(plan, salt))
            const count = Number(members[0]?.total ?? 0)
            const rows = plan.namesFew ? [] : members
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
async function readTopicRows(queryExecutor: QueryExecutor, plan: TopicPlan) {
  const members = await queryExecutor.rows<TopicRow>(topicQuery(plan))
  const rows = members.slice(0, plan.limit)
  return { rows, last: members.length > plan.limit ? rows.at(-1)! : null }
}

const json = 'application/json; charset=utf-8'

function answerOf(
  entity: Entity,
  rows: readonly TopicRow[],
  subjects: readonly string[],
  after: Record<string, unknown>,
): Buffer {
  const results = rows.map(({ score, topics }, index) => {
    const interest = JSON.stringify({ score, topics })
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

/** Checks a `select`. Throws 400 for fields that people, or companies, do not have. */
const readFields = (entity: Entity, select: string | undefined): readonly Field[] | null =>
  entity === 'people' ? readPersonFields(select) : readCompanyFields(select)

/** The people or companies of rows as JSON objects, in order; without data only with the id. */
async function readSubjects(
  queryExecutor: QueryExecutor,
  organizationId: string,
  entity: Entity,
  rows: readonly TopicRow[],
  fields: readonly Field[] | null,
): Promise<string[]> {
  const members = rows.map(({ member }) => member)
  if (entity === 'companies') {
    const companies = await readCompanies(queryExecutor, members, fields ?? undefined)
    return companies.map((company) => JSON.stringify(company))
  }
  const shown = fields ?? personFields
  const isOfProfile = shown.some(({ name }) => name !== 'hem')
  const people = isOfProfile
    ? await readPeople(queryExecutor, organizationId, members, fields)
    : new Map<string, Buffer>()
  const unknown = (hem: string) =>
    JSON.stringify(Object.fromEntries(shown.map(({ name }) => [name, name === 'hem' ? hem : null])))
  return members.map((hem) => people.get(hem)?.toString() ?? unknown(hem))
}
