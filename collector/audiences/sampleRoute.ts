import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { audienceProjectOf } from '../api/access/policy.ts'
import { access } from '../api/access/recordAccess.ts'
import { conflict } from '../api/http/errors.ts'
import { untilClosed } from '../api/http/streaming.ts'
import { ProjectQuery, SampleAnswer, SampleOf, tags } from './audienceSchemas.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'
import { MissingReference, readUsedVersions } from './builder/usedObjects.ts'
import { checkTopics } from './definition/leafTopics.ts'
import { parseDefinition } from './definition/parse.ts'
import { checkReferences } from './definition/references.ts'
import { takeSample } from './sample/sample.ts'
import { windowDaysDefault } from './signals/interestPlan.ts'

/** POST /api/v1/audiences/sample: the number of members of a definition, and some masked ones, before a build. */
export const sampleRoute =
  ({ postgres, openQueryExecutor, allowance, now }: AudiencesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/api/v1/audiences/sample',
      {
        config: { access: { ...access, limit: 'audience_sample' }, freeAnswers: true },
        schema: {
          tags,
          operationId: 'sampleAudience',
          summary: 'Sample an audience',
          body: SampleOf,
          querystring: ProjectQuery,
          description:
            'Requires the project admin role. Returns the number of members that a build would have now, and masked rows of at most 25 of them. Not billed; takes one of the free answers of the organization. The same definition is free until midnight UTC, or until a list or audience that it uses changes. A definition that names fewer than 25 people, by lists or audiences, has no rows.',
          response: { 200: SampleAnswer },
        },
      },
      async (request, reply) => {
        const { principal, body } = request
        const { organizationId } = principal
        const projectId = await audienceProjectOf(postgres, request, 'identity')
        const parsed = parseDefinition(body.definition)
        await checkReferences(postgres, { projectId, audienceId: null }, parsed)
        const queryExecutor = openQueryExecutor(principal, {
          effort: 'scan',
          signal: untilClosed(reply),
        })
        await checkTopics(queryExecutor.clickhouse, parsed)
        await allowance.takeForRequest(request, await readUsedVersions(postgres, parsed))
        try {
          const { sample, count, meter } = await takeSample(
            { queryExecutor, postgres, nowMs: now() },
            { organizationId, projectId },
            parsed,
            body.intent_window_days ?? windowDaysDefault,
          )
          return { sample, estimate: { count }, records_to_charge: count, meter }
        } catch (error) {
          throw error instanceof MissingReference ? conflict('invalid_state', error.message) : error
        }
      },
    )
  }
