import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { groupableFields } from '../../schemas/fields.ts'
import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import { Nullable, strictObject } from '../api/http/commonSchemas.ts'
import { invalidParameter } from '../api/http/errors.ts'
import { readNames } from '../events/query/fieldList.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import { sessionFieldNames } from '../events/query/sessionFields.ts'
import { FiguresMeta, metaOf, tags } from './analyticsSchemas.ts'
import { type BreakdownRow, breakdownsQuery } from './breakdownQuery.ts'
import { type AnalyticsPlan, readFiguresRequest, selectionQuery } from './figuresRequest.ts'
import { mayRead, openFigures } from './openFigures.ts'
import { rolledFields, rolledSessionFields } from './rollup/eventFigures.ts'
import { type RolledDays, readRollup } from './rollup/rolledDays.ts'
import {
  type SessionPage,
  type SessionPageRow,
  type SessionValueRow,
  sessionBreakdownsQuery,
  sessionPages,
  sessionPagesQuery,
} from './sessionsQuery.ts'
import { requireShared, withoutPersons } from './sharePolicy.ts'

const dimensionsMax = 10
const limitDefault = 10
const limitMax = 1_000

const fieldNames = groupableFields.map(({ name }) => name)
const names = [...new Set([...fieldNames, ...sessionFieldNames])]

const Value = Type.Object(
  {
    value: Nullable(Type.String(), {
      description:
        'As a filter takes it; null without one, of source: direct. Of entry_page and exit_page a page_path.',
    }),
    visitors: Type.Integer({ description: 'Distinct cookies.' }),
    events: Nullable(Type.Integer(), { description: 'Null of entry_page and exit_page.' }),
    page_views: Nullable(Type.Integer(), { description: 'Null of entry_page and exit_page.' }),
    sessions: Nullable(Type.Integer(), {
      description: `Of ${sessionFieldNames.join(', ')}; else null.`,
    }),
  },
  { title: 'AnalyticsValue', additionalProperties: false },
)

const Breakdown = Type.Object(
  {
    values: Type.Array(Value),
    has_more: Type.Boolean({ description: 'True when the limit cut the values.' }),
  },
  { title: 'AnalyticsBreakdown', additionalProperties: false },
)

const describe = {
  tags,
  operationId: 'getAnalyticsBreakdown',
  summary: 'Get a breakdown of metrics by the top values of dimensions, not billed',
  description:
    'Top pages, sources, countries, devices: of each dimension the values with the most visitors, of entry_page and ' +
    'exit_page the first and last pages of the most sessions. Sessions are those that an event which meets the filter ' +
    'is in. Fields of sessions (see sessions) count events by the value of their session. Whoever has a share link is told no value that may tell of a person.',
  querystring: strictObject({
    ...selectionQuery,
    dimensions: Type.String({
      description: `Comma-separated, ${dimensionsMax} at most: ${names.join(', ')}.`,
      examples: ['page_path,country'],
    }),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limitMax,
        default: limitDefault,
        description: 'Most values of each dimension.',
      }),
    ),
  }),
  response: {
    200: Type.Object(
      {
        breakdowns: Type.Record(Type.String(), Breakdown, { description: 'By dimension.' }),
        meta: FiguresMeta,
      },
      { description: 'The values of each dimension, those with the most visitors first.' },
    ),
  },
}

/** GET /api/v1/analytics/breakdown. Never billed. */
export const breakdownRoute =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/analytics/breakdown',
      { schema: describe, config: { access: mayRead } },
      async (request, reply) => {
        const { limit = limitDefault } = request.query
        const dimensions = readDimensions(request.query.dimensions)
        requireShared(request.principal, { dimensions })
        const asked = readFiguresRequest(request, deps.now())
        const { queryExecutor, plan } = await openFigures(deps, request.principal, asked, reply)
        const rollup = await readRollup(queryExecutor, plan)
        const ofPages = dimensions.filter(isSessionPage)
        const ofSessions = dimensions.filter(
          (name) => sessionFieldNames.includes(name) && !isSessionPage(name),
        )
        const ofRolled = ofSessions.filter((name) => rolledSessionFields.includes(name))
        const ofOthers = ofSessions.filter((name) => !rolledSessionFields.includes(name))
        const isRolled = (name: string) => rollup.events !== null && rolledFields.includes(name)
        const ofDays = dimensions.filter(isRolled)
        const ofEvents = dimensions.filter(
          (name) => !sessionFieldNames.includes(name) && !isRolled(name),
        )
        const parts = await Promise.all([
          ofDays.length > 0 ? readFields(queryExecutor, plan, ofDays, limit, rollup.events) : {},
          ofEvents.length > 0 ? readFields(queryExecutor, plan, ofEvents, limit, null) : {},
          readSessionFields(queryExecutor, plan, ofRolled, limit, rollup.sessions),
          readSessionFields(queryExecutor, plan, ofOthers, limit, null),
          ...ofPages.map((page) =>
            readSessionPages(queryExecutor, plan, page, limit, rollup.sessions),
          ),
        ])
        const breakdowns: Breakdowns = Object.assign({}, ...parts)
        for (const breakdown of Object.values(breakdowns))
          breakdown.values = withoutPersons(request.principal, breakdown.values)
        return { breakdowns, meta: metaOf(request, plan) }
      },
    )
  }

const isSessionPage = (name: string): name is SessionPage => Object.hasOwn(sessionPages, name)

function readDimensions(list: string): readonly string[] {
  const given = readNames('dimensions', list)
  if (given.length > dimensionsMax)
    throw invalidParameter('dimensions', `names more than ${dimensionsMax}`)
  const unknown = given.find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw invalidParameter('dimensions', `"${unknown}" is none of ${names.join(', ')}`)
  return given
}

type Breakdowns = Record<string, { values: Value[]; has_more: boolean }>
interface Value {
  value: string | null
  visitors: number
  events: number | null
  page_views: number | null
  sessions: number | null
}

/** Of each field of sessions the values with the most visitors. */
export async function readSessionFields(
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
  fields: readonly string[],
  limit: number,
  rolled: RolledDays | null,
): Promise<Breakdowns> {
  if (fields.length === 0) return {}
  const rows = await queryExecutor.rows<SessionValueRow>(
    sessionBreakdownsQuery(plan, fields, limit, rolled),
  )
  return byDimension(fields, rows, limit)
}

/** Of each field of events the values with the most visitors. */
export async function readFields(
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
  fields: readonly string[],
  limit: number,
  rolled: RolledDays | null,
): Promise<Breakdowns> {
  const rows = await queryExecutor.rows<BreakdownRow>(breakdownsQuery(plan, fields, limit, rolled))
  return byDimension(
    fields,
    rows.map((row) => ({ ...row, sessions: null })),
    limit,
  )
}

function byDimension(
  fields: readonly string[],
  rows: readonly (Value & { dimension: string })[],
  limit: number,
): Breakdowns {
  return Object.fromEntries(
    fields.map((field) => {
      const ofField = rows.filter(({ dimension }) => dimension === field)
      const values = ofField.slice(0, limit).map(({ dimension: _, ...row }) => row)
      return [field, { values, has_more: ofField.length > limit }]
    }),
  )
}

async function readSessionPages(
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
  page: SessionPage,
  limit: number,
  rolled: RolledDays | null,
): Promise<Breakdowns> {
  const rows = await queryExecutor.rows<SessionPageRow>(
    sessionPagesQuery(plan, page, limit, rolled),
  )
  const values = rows.slice(0, limit).map((row) => ({ ...row, events: null, page_views: null }))
  return { [page]: { values, has_more: rows.length > limit } }
}
