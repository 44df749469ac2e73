import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { requireOrganizationAdmin } from '../../api/access/permissions.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { Id, strictObject } from '../../api/http/commonSchemas.ts'
import { notFound } from '../../api/http/errors.ts'
import { NextCursor, pageQuery, readPage } from '../../api/http/pagination.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { Erasure, readErasure, requestErasure, selectErasures } from './erasures.ts'
import { addOptOut } from './optOuts.ts'
import { access } from './privacyAccess.ts'
import type { PrivacyDeps } from './privacyDeps.ts'
import { oneOf, SubjectParameters, tags } from './privacySchemas.ts'
import { readSubject } from './subject.ts'

export const erasureRoutes =
  (deps: PrivacyDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres } = deps

    app.delete(
      '/api/v1/privacy/subject',
      {
        config: { access, sampleIds: { erasure: sampleIdentity.erasureId } },
        schema: {
          tags,
          operationId: 'eraseSubject',
          summary: 'Erase a person or a browser',
          description:
            'Deletes events, rejected events and links of the organization, including those on their way. Also opts the ' +
            `subject out, unless opt_out is false. Read the erasure request until its status is complete. ${oneOf}`,
          body: strictObject({
            ...SubjectParameters,
            opt_out: Type.Optional(Type.Boolean({ default: true })),
          }),
          response: { 202: Type.Object({ erasure: Erasure }) },
        },
      },
      async ({ principal, body: { opt_out = true, ...given } }, reply) => {
        requireOrganizationAdmin(principal)
        const subject = readSubject(given)
        const { organizationId } = principal
        const erasure = await inTransaction(postgres, async (client) => {
          if (opt_out) {
            const { opt_out_id } = await addOptOut(client, organizationId, subject)
            await audit(client, principal, 'opt_out.create', { kind: 'opt_out', id: opt_out_id })
          }
          const requested = await requestErasure(client, organizationId, subject)
          // The log outlives the subject's data, so it does not identify the subject.
          const object = { kind: 'erasure', id: requested.erasure_id } as const
          await audit(client, principal, 'erasure.create', object, { opt_out })
          return requested
        })
        return reply.code(202).send({ erasure })
      },
    )

    app.get(
      '/api/v1/privacy/erasures',
      {
        config: { access },
        schema: {
          tags,
          operationId: 'listErasures',
          description: 'Sorted by time, oldest first.',
          summary: 'List erasure requests',
          querystring: strictObject(pageQuery),
          response: {
            200: Type.Object({ erasures: Type.Array(Erasure), next_cursor: NextCursor }),
          },
        },
      },
      async ({ principal, query }) => {
        requireOrganizationAdmin(principal)
        const { rows, next } = await readPage<Static<typeof Erasure>>(deps, query, {
          list: 'erasures',
          owner: principal.organizationId,
          sql: selectErasures,
          values: [principal.organizationId],
          key: { requested_at: 'timestamptz', erasure_id: 'uuid' },
        })
        return { erasures: rows, ...next }
      },
    )

    app.get(
      '/api/v1/privacy/erasures/:erasure_id',
      {
        config: { access },
        schema: {
          tags,
          operationId: 'getErasure',
          description: 'Returns the status of an erasure request.',
          summary: 'Get an erasure request',
          params: strictObject({ erasure_id: Id }),
          response: { 200: Type.Object({ erasure: Erasure }) },
        },
      },
      async ({ principal, params }) => {
        requireOrganizationAdmin(principal)
        const erasure = await readErasure(postgres, params.erasure_id, principal.organizationId)
        if (!erasure) throw notFound.erasure()
        return { erasure }
      },
    )
  }
