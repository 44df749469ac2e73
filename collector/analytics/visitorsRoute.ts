import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { Choice, Nullable, strictObject } from '../api/http/commonSchemas.ts'
import { invalidParameter } from '../api/http/errors.ts'
import { CursorParameter, NextCursor } from '../api/http/pagination.ts'
import { rejectUnstorableText } from '../api/http/rejectUnstorableText.ts'
import { ChargedMeta, chargedMeta } from '../billing/chargedMeta.ts'
import { admit, hashesOf, settle } from '../billing/chargedRequest.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import type { Window } from '../events/query/window/window.ts'
import { FiguresMeta, metaOf, tags } from './analyticsSchemas.ts'
import { readFiguresRequest, selectionQuery } from './figuresRequest.ts'
import { readSteps, Steps, WithinMs } from './funnelSteps.ts'
import { mayRead, openFigures } from './openFigures.ts'
import {
  type VisitorPlace,
  type VisitorRow,
  type VisitorsAsked,
  visitorsQuery,
} from './visitorsQuery.ts'

const limitDefault = 100
const limitMax = 10_000

const describe = {
  tags,
  operationId: 'listAnalyticsVisitors',
  summary: 'List the visitors behind a metric',
  description:
    'Returns one row for each browser with an event that matches the filter: the visitors that overview, breakdown and ' +
    'conversions count. With steps, returns the visitors that the funnel counts at one step, or who went no ' +
    'further. The visitor seen last comes first. Each row is charged as an event. Resolution tiers return identities.',
  body: strictObject({
    ...selectionQuery,
    steps: Type.Optional(Steps),
    within_ms: WithinMs,
    step: Type.Optional(
      Type.Integer({
        minimum: 1,
        description: 'Number of steps that the visitors took. Default: all. Requires steps.',
      }),
    ),
    outcome: Type.Optional(
      Choice(['reached', 'dropped'], {
        default: 'reached',
        description: 'dropped: only visitors who took no further step. Requires steps.',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limitMax, default: limitDefault })),
    cursor: Type.Optional(CursorParameter),
  }),
  response: {
    200: Type.Object(
      {
        visitors: Type.Array(
          Type.Object(
            {
              cookie_id: Type.String(),
              resolved: Type.Boolean({ description: 'True if the visitor is identified.' }),
              steps_taken: Nullable(Type.Integer(), {
                description: 'Number of steps taken. Null without steps.',
              }),
              events: Type.Integer({ description: 'Events in the window that match the filter.' }),
              first_ms: Type.Integer({
                description: 'Time of the first of these events, epoch milliseconds.',
              }),
              last_ms: Type.Integer({
                description: 'Time of the last of these events, epoch milliseconds.',
              }),
              pages: Type.Integer({ description: 'How many of the events are page views.' }),
              source: Nullable(Type.String(), {
                description:
                  'The source of the session of the first event, such as Google. Null: direct.',
              }),
              country: Nullable(Type.String(), {
                description: 'ISO 3166-1 code, of the session of the last event.',
              }),
              device_type: Nullable(Type.String(), {
                description: 'Of the session of the last event.',
              }),
              browser: Nullable(Type.String(), {
                description: 'Of the session of the last event.',
              }),
              os: Nullable(Type.String(), { description: 'Of the session of the last event.' }),
            },
            { title: 'AnalyticsVisitor', additionalProperties: false },
          ),
        ),
        next_cursor: NextCursor,
        meta: Type.Object({ ...FiguresMeta.properties, ...ChargedMeta.properties }),
      },
      { description: 'The visitors.' },
    ),
  },
}

/** The start of a page. It contains the window, so that all pages use the same one. */
interface Place {
  readonly after: VisitorPlace
  readonly window: Window
}

/** POST /api/v1/analytics/visitors: the visitors of a figure, charged like events. */
export const visitorsRoute =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.addHook('preValidation', rejectUnstorableText)
    const cursors = deps.cursors<Place>('analytics visitors')
    app.post(
      '/api/v1/analytics/visitors',
      { schema: describe, config: { access: mayRead, charged: true } },
      async (request, reply) => {
        const { principal, body } = request
        const { organizationId } = principal
        const place = body.cursor === undefined ? null : cursors.read(organizationId, body.cursor)
        const asked = { ...readAsked(body), after: place?.after ?? null }
        const figures = readFiguresRequest({ query: body }, deps.now())
        const { queryExecutor, plan: opened } = await openFigures(deps, principal, figures, reply)

        const admitted = await admit(deps.billing, request, reply, {
          meter: 'events',
          projectId: opened.scope.projectId,
          recordsMax: asked.limit,
        })

        const { repeatedWindow: window = place?.window ?? opened.window } = admitted
        const plan = { ...opened, window }
        const found = await queryExecutor.rows<VisitorRow>(visitorsQuery(plan, asked))
        const visitors = found.slice(0, asked.limit)
        const last = found.length > asked.limit ? visitors.at(-1)! : null

        const { charged } = await settle(admitted, {
          records: visitors.length,
          window,
          hashes: () => hashesOf(visitors.map(({ cookie_id }) => cookie_id)),
        })

        return {
          visitors,
          ...(last && {
            next_cursor: cursors.write(organizationId, {
              after: { lastMs: last.last_ms, cookieId: last.cookie_id },
              window,
            }),
          }),
          meta: { ...metaOf(request, plan), ...chargedMeta('events', visitors.length, charged) },
        }
      },
    )
  }

interface Body {
  steps?: readonly string[] | undefined
  within_ms?: number | undefined
  step?: number | undefined
  outcome?: 'reached' | 'dropped' | undefined
  limit?: number | undefined
}

/** Throws 400 that names the parameter, for a step that the funnel does not have. */
function readAsked({
  steps,
  within_ms,
  step,
  outcome,
  limit = limitDefault,
}: Body): Omit<VisitorsAsked, 'after'> {
  if (!steps) {
    const alone = Object.entries({ within_ms, step, outcome }).find(
      ([, value]) => value !== undefined,
    )
    if (alone) throw invalidParameter(alone[0], 'requires steps')
    return { funnel: null, step: 1, hasStopped: false, limit }
  }
  if (step !== undefined && step > steps.length)
    throw invalidParameter('step', `must be at most ${steps.length}, the number of steps`)
  return {
    funnel: readSteps(steps, within_ms),
    step: step ?? steps.length,
    hasStopped: outcome === 'dropped',
    limit,
  }
}
