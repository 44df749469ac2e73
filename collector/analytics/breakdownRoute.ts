import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { groupableFields } from '../../schemas/fields.ts'
import { Nullable, strictObject } from '../api/http/commonSchemas.ts'
import { invalidParameter } from '../api/http/errors.ts'
import { readNames } from '../api/http/nameList.ts'
import { pathIntoEventData } from '../events/query/filter/filter.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import { sessionFieldNames } from '../events/query/sessionFields.ts'
import { FiguresMeta, metaOf, Revenue, tags } from './analyticsSchemas.ts'
import { readBreakdowns } from './breakdowns.ts'
import { readFiguresRequest, selectionQuery } from './figuresRequest.ts'
import { readGoal } from './goals.ts'
import { findImportedDays, ImportedValues, readImportedValues } from './imported/importedDays.ts'
import { mayRead, openFigures } from './openFigures.ts'
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
        'As a filter takes it; null without one. Of entry_page and exit_page a page_path.',
    }),
    visitors: Type.Integer({ description: 'Distinct cookies.' }),
    events: Nullable(Type.Integer(), { description: 'Null for entry_page and exit_page.' }),
    page_views: Nullable(Type.Integer(), { description: 'Null for entry_page and exit_page.' }),
    sessions: Nullable(Type.Integer(), {
      description: `Of ${sessionFieldNames.join(', ')}; else null.`,
    }),
    goal: Nullable(
      Type.Object(
        {
          events: Type.Integer({
            description:
              'Events that reach the goal: of a session field in the sessions with the value, otherwise by the visitors ' +
              'of the value.',
          }),
          visitors: Type.Integer({
            description:
              'Visitors of the value who reach the goal: distinct cookies of these events.',
          }),
          rate: Type.Number({
            description: 'Share of the visitors of the value who reach the goal, from 0 to 1.',
          }),
          revenue: Revenue,
        },
        { title: 'AnalyticsValueGoal', additionalProperties: false },
      ),
      { description: 'Conversions of the goal; null without the parameter `goal`.' },
    ),
  },
  { title: 'AnalyticsValue', additionalProperties: false },
)

const Breakdown = Type.Object(
  {
    values: Type.Array(Value),
    has_more: Type.Boolean({ description: 'True if the limit left out values.' }),
    imported: Type.Optional(ImportedValues),
  },
  { title: 'AnalyticsBreakdown', additionalProperties: false },
)

const describe = {
  tags,
  operationId: 'getAnalyticsBreakdown',
  summary: 'Get a breakdown of metrics by the top values of dimensions, not billed',
  description:
    'Returns the values of each dimension with the most visitors; of entry_page and exit_page those with the most ' +
    'sessions. Fields of sessions (the parameter filter lists them) count the events of the sessions with the value; ' +
    'other fields count the events with the value. With `goal`, each value also has conversions. For a field of ' +
    'sessions, these are the events that reach the goal in the sessions with the value. For any other field, they are ' +
    'the events that reach the goal by visitors who have an event with the value in the window. The order of the two ' +
    'events does not matter, and both must match the filter. Share links omit values that may identify a person.',
  querystring: strictObject({
    ...selectionQuery,
    dimensions: Type.String({
      description:
        `Comma-separated, at most ${dimensionsMax} of ${names.join(', ')}, and paths into event_data, such as ` +
        'event_data.name (of custom events) or event_data.properties.plan.',
      examples: ['page_path,country'],
    }),
    goal: Type.Optional(
      Type.String({
        description:
          'The name of a goal of the project, whose conversions each value has. Requires project_id.',
        examples: ['Ordered'],
      }),
    ),
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
        const { project_id, goal: name } = request.query
        const goal =
          name === undefined
            ? null
            : await readGoal(deps.postgres, request.principal, project_id, name)
        const breakdowns = await readBreakdowns(queryExecutor, plan, dimensions, { limit, goal })
        const days = await findImportedDays(queryExecutor, plan)
        const shown = Object.fromEntries(
          await Promise.all(
            Object.entries(breakdowns).map(async ([name, breakdown]) => {
              const values = withoutPersons(request.principal, breakdown.values)
              const imported = await readImportedValues(queryExecutor, days, {
                principal: request.principal,
                dimension: name,
                limit,
              })
              return [name, { ...breakdown, values, ...imported }] as const
            }),
          ),
        )
        return { breakdowns: shown, meta: metaOf(request, plan) }
      },
    )
  }

function readDimensions(list: string): readonly string[] {
  const given = readNames('dimensions', list)
  if (given.length > dimensionsMax)
    throw invalidParameter('dimensions', `must name at most ${dimensionsMax}`)
  const unknown = given.find((name) => !names.includes(name) && !pathIntoEventData(name))
  if (unknown !== undefined)
    throw invalidParameter(
      'dimensions',
      `"${unknown}" must be a path into event_data, or one of ${names.join(', ')}`,
    )
  return given
}
