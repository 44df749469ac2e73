import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { access } from '../api/access/recordAccess.ts'
import { Id } from '../api/http/commonSchemas.ts'
import type { Meter } from '../billing/meters.ts'
import { readUsageByProject } from '../billing/usageQuery.ts'
import { readUsageWindow, UsageParameters } from '../billing/usageWindow.ts'
import { tags } from './audienceSchemas.ts'
import type { AudiencesDeps } from './audiencesDeps.ts'

const audienceMeters = ['audience', 'audience_predictive'] as const satisfies readonly Meter[]

const ProjectUsage = Type.Object({
  project_id: Id,
  records: Type.Integer({
    description: 'Records charged for its audiences, minus refunds.',
  }),
  by_meter: Type.Object(
    { audience: Type.Integer(), audience_predictive: Type.Integer() },
    { description: 'The same by meter.' },
  ),
})

/** GET /api/v1/audiences/linkage-usage: the charges of audiences by project. Never charged itself. */
export const linkageUsageRoute =
  (deps: AudiencesDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.get(
      '/api/v1/audiences/linkage-usage',
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getAudienceUsage',
          summary: 'List the usage of audiences by project',
          description:
            'Returns the usage of one project or of all projects with usage. Project keys get their own project only.',
          querystring: UsageParameters,
          response: { 200: Type.Object({ projects: Type.Array(ProjectUsage) }) },
        },
      },
      async ({ principal, query }) => {
        const window = await readUsageWindow(deps, principal, query)
        const projects = new Map<string, Static<typeof ProjectUsage>>()
        for (const { project_id, meter, records } of await readUsageByProject(
          deps.postgres,
          window,
          audienceMeters,
        )) {
          const usage = projects.get(project_id) ?? {
            project_id,
            records: 0,
            by_meter: { audience: 0, audience_predictive: 0 },
          }
          const by_meter = { ...usage.by_meter, [meter]: records }
          projects.set(project_id, { project_id, records: usage.records + records, by_meter })
        }
        return { projects: [...projects.values()] }
      },
    )
  }
