import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { changeRecord } from '../../api/access/changeRecord.ts'
import { projectFor, requireFiltersAllowed } from '../../api/access/policy.ts'
import {
  bearerAccess as access,
  bearerWriteAccess as writeAccess,
} from '../../api/access/recordAccess.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { changesOf } from '../../api/http/optimisticLock.ts'
import { NextCursor } from '../../api/http/pagination.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import {
  ById,
  Campaign,
  CampaignChange,
  ListQuery,
  NewCampaign,
  ProjectQuery,
  tags,
} from './campaignSchemas.ts'
import { changeCampaign, createCampaign, listCampaigns, readCampaign } from './campaigns.ts'
import type { CampaignsDeps } from './campaignsDeps.ts'

const path = '/api/v1/campaigns'
const One = Type.Object({ campaign: Campaign })

/** /api/v1/campaigns: campaigns of DSPs. */
export const campaignRoutes =
  (deps: CampaignsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, recordScopeOf } = deps
    const config = { access }

    app.get(
      path,
      {
        config,
        schema: {
          tags,
          operationId: 'listCampaigns',
          summary: 'List campaigns',
          querystring: ListQuery,
          description:
            'Returns the campaigns of `project_id`, or of every project that the caller can access. Sorted by creation time, newest first.',
          response: {
            200: Type.Object({ campaigns: Type.Array(Campaign), next_cursor: NextCursor }),
          },
        },
      },
      async ({ principal, query }) => {
        const { project_id, limit, cursor, ...filters } = query
        requireFiltersAllowed(principal, filters)
        const scope = await recordScopeOf(principal, project_id)
        return listCampaigns(deps, { scope, ...filters }, { limit, cursor })
      },
    )

    app.get(
      `${path}/:campaign_id`,
      {
        config,
        schema: {
          tags,
          operationId: 'getCampaign',
          description: 'Returns a campaign that the caller can access.',
          summary: 'Get a campaign',
          params: ById,
          querystring: ProjectQuery,
          response: { 200: One },
        },
      },
      async ({ principal, params, query }) => {
        const scope = await recordScopeOf(principal, query.project_id)
        return { campaign: await readCampaign(postgres, scope, params.campaign_id) }
      },
    )

    app.post(
      path,
      {
        config: { access: writeAccess, sampleIds: { campaign: sampleIdentity.campaignId } },
        schema: {
          tags,
          operationId: 'createCampaign',
          summary: 'Create a campaign',
          body: NewCampaign,
          description: 'Requires the project admin role. Project keys can omit `project_id`.',
          response: { 201: One },
        },
      },
      async ({ principal, body }, reply) => {
        const { project_id, ...settings } = body
        const { projectId } = await projectFor(postgres, principal, 'records', project_id, 'write')
        const campaign = await inTransaction(postgres, async (client) => {
          const created = await createCampaign(client, projectId, settings)
          const { campaign_id: id, name } = created
          await audit(client, principal, 'campaign.create', { kind: 'campaign', id }, { name })
          return created
        })
        return reply.code(201).send({ campaign })
      },
    )

    app.patch(
      `${path}/:campaign_id`,
      {
        config: { access: writeAccess },
        schema: {
          tags,
          operationId: 'updateCampaign',
          summary: 'Update a campaign',
          params: ById,
          querystring: ProjectQuery,
          body: CampaignChange,
          description: 'Requires the project admin role. Omitted fields keep their values.',
          response: { 200: One },
        },
      },
      async (request) => {
        const { principal, params, body } = request
        return changeRecord(
          deps,
          request,
          readCampaign,
          params.campaign_id,
          async (client, before) => {
            const campaign = await changeCampaign(client, before, body)
            const object = { kind: 'campaign', id: campaign.campaign_id } as const
            await audit(client, principal, 'campaign.update', object, changesOf(before, campaign))
            return { campaign }
          },
        )
      },
    )
  }
