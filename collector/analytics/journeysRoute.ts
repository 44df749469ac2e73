import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import type { Principal } from '../api/access/principal.ts'
import { Nullable, strictObject } from '../api/http/commonSchemas.ts'
import { invalidParameter } from '../api/http/errors.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import { behaviorTags, FiguresMeta, metaOf } from './analyticsSchemas.ts'
import { readFiguresRequest, selectionQuery } from './figuresRequest.ts'
import { conditionsOf, readGoal } from './goals.ts'
import { goalPage, type JourneyRow, type JourneysAsked, journeysQuery } from './journeysQuery.ts'
import { mayRead, openFigures } from './openFigures.ts'

const stepsDefault = 4
const pagesDefault = 6

const Link = Type.Object(
  {
    step: Type.Integer({
      description:
        'Position of the page in the journey, from 1. With an end, the journeys are aligned there: it has the ' +
        'position `steps` + 1.',
    }),
    from_page: Nullable(Type.String(), {
      description: 'A page_path, or at the end the name of `goal`. Null groups all other pages.',
    }),
    to_page: Nullable(Type.String(), {
      description:
        'A page_path of the next page, or at the end the name of `goal`. Null if the journey ends or for other pages.',
    }),
    ends: Type.Boolean({
      description: 'True if the session has no further page, or the end is reached.',
    }),
    sessions: Type.Integer(),
  },
  { title: 'JourneyLink', additionalProperties: false },
)
type Link = Static<typeof Link>

const describe = {
  tags: behaviorTags,
  operationId: 'getAnalyticsJourneys',
  summary: 'Get user journeys: the paths of sessions from page to page, not billed',
  description:
    'Returns steps from page to page, of sessions that start in the window. Sessions count if one of their events ' +
    'matches the filter. They start with their first page view, or with the first view of a given page. With `end` or ' +
    '`goal`, they are the last steps before a page or goal is first reached. Repeated views of the same page are one step.',
  querystring: strictObject({
    ...selectionQuery,
    steps: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10,
        default: stepsDefault,
        description: 'Number of steps from page to page.',
      }),
    ),
    pages: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 50,
        default: pagesDefault,
        description: 'Number of pages listed for each step: those with the most sessions.',
      }),
    ),
    start: Type.Optional(
      Type.String({
        maxLength: 8_192,
        description: 'Only sessions with this page_path, from this page on.',
      }),
    ),
    end: Type.Optional(
      Type.String({
        maxLength: 8_192,
        description: 'Only sessions with this page_path (after `start`), until this page.',
      }),
    ),
    goal: Type.Optional(
      Type.String({
        description:
          'The name of a goal of the project. Only sessions that reach it (after `start`), until they do. ' +
          'Requires project_id and excludes `end`.',
        examples: ['Ordered'],
      }),
    ),
  }),
  response: {
    200: Type.Object(
      { links: Type.Array(Link), meta: FiguresMeta },
      { description: 'The steps in order, those with the most sessions first.' },
    ),
  },
}

export const journeysRoute =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/analytics/journeys',
      { schema: describe, config: { access: mayRead } },
      async (request, reply) => {
        const { steps = stepsDefault, pages = pagesDefault, start, goal } = request.query
        const asked = readFiguresRequest(request, deps.now())
        const { queryExecutor, plan } = await openFigures(deps, request.principal, asked, reply)
        const end = await readEnd(deps, request.principal, request.query)
        const rows = await queryExecutor.rows<JourneyRow>(
          journeysQuery(plan, { steps, start, end }),
        )
        const named = goal === undefined ? rows : rows.map((row) => withGoal(row, goal))
        return { links: linksOf(named, pages), meta: metaOf(request, plan) }
      },
    )
  }

async function readEnd(
  { postgres }: ReadDeps,
  principal: Principal,
  { project_id, end, goal }: { project_id?: string; end?: string; goal?: string },
): Promise<JourneysAsked['end']> {
  if (goal === undefined) return end === undefined ? undefined : { page: end }
  if (end !== undefined) throw invalidParameter('goal', 'excludes `end`: send one of them')
  return { goal: conditionsOf(await readGoal(postgres, principal, project_id, goal)).filters }
}

const withGoal = (row: JourneyRow, goal: string): JourneyRow => ({
  ...row,
  from_page: row.from_page === goalPage ? goal : row.from_page,
  to_page: row.to_page === goalPage ? goal : row.to_page,
})

/** Returns the steps between the most visited pages of each position; all other pages are one. */
function linksOf(rows: readonly JourneyRow[], pages: number): Link[] {
  const sessionsAt = new Map<number, Map<string, number>>()
  const add = (place: number, page: string, sessions: number) => {
    const at = sessionsAt.get(place) ?? new Map<string, number>()
    sessionsAt.set(place, at.set(page, (at.get(page) ?? 0) + sessions))
  }
  const lastStep = Math.max(0, ...rows.map(({ step }) => step))
  for (const { step, from_page, to_page, ends, sessions } of rows) {
    add(step, from_page, sessions)
    if (step === lastStep && !ends) add(step + 1, to_page, sessions)
  }
  const shown = new Map(
    [...sessionsAt].map(([place, at]) => [
      place,
      new Set(
        [...at]
          .sort((one, other) => other[1] - one[1])
          .slice(0, pages)
          .map(([page]) => page),
      ),
    ]),
  )
  const named = (place: number, page: string) => (shown.get(place)?.has(page) ? page : null)
  const links = new Map<string, Link>()
  const count = (link: Link) => {
    const key = JSON.stringify({ ...link, sessions: 0 })
    const found = links.get(key)
    if (found) found.sessions += link.sessions
    else links.set(key, link)
  }
  const untold = new Map<number, number>()
  for (const { step, from_page, to_page, ends, sessions, at_step } of rows) {
    untold.set(step, (untold.get(step) ?? at_step) - sessions)
    count({
      step,
      from_page: named(step, from_page),
      to_page: ends ? null : named(step + 1, to_page),
      ends,
      sessions,
    })
  }
  for (const [step, sessions] of untold) {
    if (sessions > 0) count({ step, from_page: null, to_page: null, ends: false, sessions })
  }
  return [...links.values()].sort(
    (one, other) => one.step - other.step || other.sessions - one.sessions,
  )
}
