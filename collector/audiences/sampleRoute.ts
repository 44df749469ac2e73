import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { audienceProjectOf } from '../api/access/policy.ts'
import { access } from '../api/access/recordAccess.ts'
import { conflict } from '../api/http/errors.ts'
import { untilClosed } from '../api/http/streaming.ts'
import { ProjectQuery, SampleAnswer, SampleOf, tags } from './audienceSchemas.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'
import { AudienceNotBuilt } from './builder/usedObjects.ts'
import { checkTopics } from './definition/leafTopics.ts'
import { parseDefinition } from './definition/parse.ts'
import { checkReferences } from './definition/references.ts'
import { takeSample } from './sample/sample.ts'
import { windowDaysDefault } from './signals/interestPlan.ts'

/** POST /api/v1/audiences/sample: a preview of a definition before a build; free. */
export const sampleRoute =
  ({ postgres, openQueryExecutor, now }: AudiencesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.post(
      '/api/v1/audiences/sample',
      {
        config: { access: { ...access, limit: 'audience_sample' } },
        schema: {
          tags,
          operationId: 'sampleAudience',
          summary: 'Sample an audience',
          body: SampleOf,
          querystring: ProjectQuery,
          description:
            'Requires the project admin role. Returns an estimated size, and at most 25 random members with coarse fields such as job_seniority and company_industry. Free. Therefore both are null for definitions with a billed count: with `event`, `list` or `audience` leaves, or with a name. They are also null with `intent` if the organization has intent rules, and if the conditions could describe fewer than 25 people. Each value of `in` and of `ne` is a condition for this. Other operators count as describing few, except `is_set` of fields that support no other. A sample needs at least 1,000 members.',
          response: { 200: SampleAnswer },
        },
      },
      async (request, reply) => {
        const { principal, body } = request
        const { organizationId, mode } = principal
        const projectId = await audienceProjectOf(postgres, request, 'identity')
        const parsed = parseDefinition(body.definition)
        await checkReferences(postgres, { projectId, audienceId: null }, parsed)
        const queryExecutor = openQueryExecutor(principal, {
          effort: 'scan',
          signal: untilClosed(reply),
        })
        await checkTopics(queryExecutor.clickhouse, parsed)
        try {
          const { sample, estimate, meter } = await takeSample(
            { queryExecutor, postgres, nowMs: now() },
            { organizationId, projectId, mode },
            parsed,
            body.intent_window_days ?? windowDaysDefault,
          )
          return { sample, estimate, records_to_charge: estimate?.count ?? null, meter }
        } catch (error) {
          throw error instanceof AudienceNotBuilt ? conflict('invalid_state', error.message) : error
        }
      },
    )
  }
