import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { audit } from '../api/access/audit.ts'
import { lockProject } from '../api/access/locks.ts'
import { projectFor } from '../api/access/policy.ts'
import type { Principal } from '../api/access/principal.ts'
import {
  Id,
  Name,
  Nullable,
  SeenVersion,
  strictObject,
  Timestamp,
} from '../api/http/commonSchemas.ts'
import { invalidParameter } from '../api/http/errors.ts'
import { requireVersion } from '../api/http/optimisticLock.ts'
import { rejectUnstorableText } from '../api/http/rejectUnstorableText.ts'
import { EventFilterText, pathIntoEventData } from '../events/query/filter/filter.ts'
import type { ReadDeps } from '../events/query/readDeps.ts'
import { inTransaction } from '../platform/postgres/transaction.ts'
import { settingsTags } from './analyticsSchemas.ts'
import { readEventFilters } from './figuresRequest.ts'
import { type Goals, goalsMax, readGoals, replaceGoals } from './goals.ts'
import { mayRead } from './openFigures.ts'

const filterLengthMax = 2_000

const Goal = Type.Object(
  {
    name: Name,
    filter: Type.Unsafe<string>({ ...EventFilterText, minLength: 1, maxLength: filterLengthMax }),
    value: Type.Optional(
      strictObject({
        property: Type.String({
          maxLength: filterLengthMax,
          description: 'Path into event_data of a number, the revenue of the event.',
          examples: ['event_data.properties.total'],
        }),
        currency: Type.String({
          pattern: '^[A-Z]{3}$',
          errorMessage: 'must be a currency of ISO 4217, such as EUR',
          description: 'Currency of the numbers (ISO 4217). They are not converted.',
          examples: ['EUR'],
        }),
      }),
    ),
  },
  { title: 'AnalyticsGoal', additionalProperties: false },
)

const Answer = Type.Object(
  {
    goals: Type.Array(Goal),
    version: Type.Integer({
      description: 'Increases with every change. 0 if goals were never set.',
    }),
    updated_at: Nullable(Timestamp),
  },
  { title: 'AnalyticsGoals' },
)

const path = '/api/v1/analytics/goals'

/** GET and PUT /api/v1/analytics/goals: the events of a project that count as conversions. Never billed. */
export const goalsRoutes =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres } = deps
    app.addHook('preValidation', rejectUnstorableText)

    /** Returns the project if the caller has access. */
    const projectOf = async (principal: Principal, asked: string, action: 'read' | 'write') =>
      (await projectFor(postgres, principal, 'events', asked, action)).projectId

    app.get(
      path,
      {
        config: { access: mayRead },
        schema: {
          tags: settingsTags,
          operationId: 'getAnalyticsGoals',
          summary: 'Get the goals of a project',
          description: 'Returns the goals, which define the events that count as conversions.',
          querystring: strictObject({ project_id: Id }),
          response: { 200: Answer },
        },
      },
      async ({ principal, query }) =>
        publicGoals(
          await readGoals(postgres, await projectOf(principal, query.project_id, 'read')),
        ),
    )

    app.put(
      path,
      {
        config: { access: { ...mayRead, keyRole: 'write' } },
        schema: {
          tags: settingsTags,
          operationId: 'setAnalyticsGoals',
          summary: 'Set all goals of a project',
          description: 'Replaces all goals. They also apply to events before the change.',
          body: strictObject({
            project_id: Id,
            goals: Type.Array(Goal, { maxItems: goalsMax }),
            version: SeenVersion,
          }),
          response: { 200: Answer },
        },
      },
      async ({ principal, body }) => {
        for (const [index, { filter, value }] of body.goals.entries()) {
          readEventFilters(`goals[${index}].filter`, filter)
          if (value && !pathIntoEventData(value.property))
            throw invalidParameter(
              `goals[${index}].value.property`,
              'must be a path into event_data, such as event_data.properties.total',
            )
        }
        const names = body.goals.map(({ name }) => name)
        const repeated = names.findIndex((name, index) => names.indexOf(name) !== index)
        if (repeated >= 0)
          throw invalidParameter(`goals[${repeated}].name`, 'is the name of another goal')
        const projectId = await projectOf(principal, body.project_id, 'write')
        return inTransaction(postgres, async (client) => {
          await lockProject(client, projectId)
          const before = await readGoals(client, projectId)
          requireVersion('analytics_goals', publicGoals(before), body.version)
          const goals = await replaceGoals(client, projectId, body.goals)
          await audit(client, principal, 'analytics_goals.replaced', {
            kind: 'project',
            id: projectId,
          })
          return publicGoals(goals)
        })
      },
    )
  }

const publicGoals = ({ goals, version, updated_at }: Goals): Static<typeof Answer> => ({
  goals,
  version,
  updated_at: updated_at?.toISOString() ?? null,
})
