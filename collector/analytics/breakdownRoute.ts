import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { groupableFields } from '../../schemas/fields.ts'
import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import { Nullable, strictObject } from '../api/http/commonSchemas.ts'
import { invalidParameter } from '../api/http/errors.ts'
import { readNames } from '../events/query/fieldList.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import { FiguresMeta, metaOf, tags } from './analyticsSchemas.ts'
import { type BreakdownRow, breakdownsQuery } from './breakdownQuery.ts'
import { type AnalyticsPlan, readFiguresRequest, selectionQuery } from './figuresRequest.ts'
import { mayRead, openFigures } from './openFigures.ts'
import { rolledFields } from './rollup/eventFigures.ts'
import { type RolledDays, readRollup } from './rollup/rolledDays.ts'
import {
  type SessionPage,
  type SessionPageRow,
  sessionPages,
  sessionPagesQuery,
} from './sessionsQuery.ts'
import { requireShared, withoutPersons } from './sharePolicy.ts'

const dimensionsMax = 10
const limitDefault = 10
const limitMax = 1_000

const fieldNames = groupableFields.map(({ name }) => name)
const names = [...fieldNames, ...Object.keys(sessionPages)]

const Value = Type.Object(
  {
    value: Nullable(Type.String(), {
      description:
        'Value of the dimension, in the form of filter values. Null for events without one. For entry_page and exit_page a page_path.',
    }),
    visitors: Type.Integer({ description: 'Distinct cookies.' }),
    events: Nullable(Type.Integer(), { description: 'Null for entry_page and exit_page.' }),
    page_views: Nullable(Type.Integer(), { description: 'Null for entry_page and exit_page.' }),
    sessions: Nullable(Type.Integer(), {
      description: 'Only for entry_page and exit_page, otherwise null.',
    }),
  },
  { title: 'AnalyticsValue', additionalProperties: false },
)

const Breakdown = Type.Object(
  {
    values: Type.Array(Value),
    has_more: Type.Boolean({ description: 'True if the limit left out values.' }),
  },
  { title: 'AnalyticsBreakdown', additionalProperties: false },
)

const describe = {
  tags,
  operationId: 'getAnalyticsBreakdown',
  summary: 'Get a breakdown of metrics by the top values of dimensions, not billed',
  description:
    'Returns the values of each dimension with the most visitors, such as pages, sources, countries or devices. For ' +
    'entry_page and exit_page, returns the first and last pages of the most sessions. Sessions count if one of ' +
    'their events matches the filter. Share links do not receive values that may describe a person.',
  querystring: strictObject({
    ...selectionQuery,
    dimensions: Type.String({
      description: `Comma-separated, at most ${dimensionsMax} of ${names.join(', ')}.`,
      examples: ['page_path,country'],
    }),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: limitMax,
        default: limitDefault,
        description: 'Maximum number of values of each dimension.',
      }),
    ),
  }),
  response: {
    200: Type.Object(
      {
        breakdowns: Type.Record(Type.String(), Breakdown, { description: 'Values by dimension.' }),
        meta: FiguresMeta,
      },
      { description: 'The values of each dimension, sorted by visitors, most first.' },
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
        const ofSessions = dimensions.filter(isSessionPage)
        const isRolled = (name: string) => rollup.events !== null && rolledFields.includes(name)
        const ofDays = dimensions.filter(isRolled)
        const ofEvents = dimensions.filter((name) => !isSessionPage(name) && !isRolled(name))
        const parts = await Promise.all([
          ofDays.length > 0 ? readFields(queryExecutor, plan, ofDays, limit, rollup.events) : {},
          ofEvents.length > 0 ? readFields(queryExecutor, plan, ofEvents, limit, null) : {},
          ...ofSessions.map((page) =>
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
    throw invalidParameter('dimensions', `must name at most ${dimensionsMax}`)
  const unknown = given.find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw invalidParameter('dimensions', `"${unknown}" must be one of ${names.join(', ')}`)
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

/** Of each field the values with the most visitors. */
export async function readFields(
  queryExecutor: QueryExecutor,
  plan: AnalyticsPlan,
  fields: readonly string[],
  limit: number,
  rolled: RolledDays | null,
): Promise<Breakdowns> {
  const rows = await queryExecutor.rows<BreakdownRow>(breakdownsQuery(plan, fields, limit, rolled))
  return Object.fromEntries(
    fields.map((field) => {
      const ofField = rows.filter(({ dimension }) => dimension === field)
      const values = ofField
        .slice(0, limit)
        .map(({ dimension: _, ...row }) => ({ ...row, sessions: null }))
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
