import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { audit } from '../../api/access/audit.ts'
import { requireOrganizationAdmin } from '../../api/access/permissions.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { Id, Nullable, strictObject, Timestamp } from '../../api/http/commonSchemas.ts'
import { notFound } from '../../api/http/errors.ts'
import { NextCursor, pageQuery, readPage } from '../../api/http/pagination.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { addOptOut, type OptOut, removeOptOut, selectOptOuts } from './optOuts.ts'
import { access } from './privacyAccess.ts'
import type { PrivacyDeps } from './privacyDeps.ts'
import { oneOf, SubjectParameters, tags } from './privacySchemas.ts'
import { readSubject } from './subject.ts'

const PublicOptOut = Type.Object(
  {
    opt_out_id: Id,
    hem: Nullable(Type.String()),
    cookie_id: Nullable(Id),
    created_at: Timestamp,
  },
  { title: 'OptOut' },
)

export const optOutRoutes =
  (deps: PrivacyDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres } = deps

    app.get(
      '/api/v1/privacy/opt-outs',
      {
        config: { access },
        schema: {
          tags,
          operationId: 'listOptOuts',
          description:
            'Returns the opt-outs of people and of browsers. Sorted by time, oldest first.',
          summary: 'List opt-outs',
          querystring: strictObject(pageQuery),
          response: {
            200: Type.Object({ opt_outs: Type.Array(PublicOptOut), next_cursor: NextCursor }),
          },
        },
      },
      async ({ principal, query }) => {
        requireOrganizationAdmin(principal)
        const { rows, next } = await readPage<OptOut>(deps, query, {
          list: 'opt_outs',
          owner: principal.organizationId,
          sql: selectOptOuts,
          values: [principal.organizationId],
          key: { created_at: 'timestamptz', opt_out_id: 'uuid' },
        })
        return { opt_outs: rows, ...next }
      },
    )

    app.post(
      '/api/v1/privacy/opt-outs',
      {
        config: { access, sampleIds: { opt_out: sampleIdentity.optOutId } },
        schema: {
          tags,
          operationId: 'createOptOut',
          summary: 'Opt a person or a browser out',
          body: strictObject(SubjectParameters),
          description: `The collector then discards new events of the subject, and no read identifies them. ${oneOf}`,
          response: { 201: Type.Object({ opt_out: PublicOptOut }) },
        },
      },
      async ({ principal, body }, reply) => {
        requireOrganizationAdmin(principal)
        const subject = readSubject(body)
        const optOut = await inTransaction(postgres, async (client) => {
          const added = await addOptOut(client, principal.organizationId, subject)
          await audit(client, principal, 'opt_out.create', {
            kind: 'opt_out',
            id: added.opt_out_id,
          })
          return added
        })
        return reply.code(201).send({ opt_out: optOut })
      },
    )

    app.delete(
      '/api/v1/privacy/opt-outs',
      {
        config: { access },
        schema: {
          tags,
          operationId: 'deleteOptOut',
          summary: 'Delete the opt-out of a person or a browser',
          body: strictObject(SubjectParameters),
          description: oneOf,
          response: { 204: Type.Null({ description: 'Deleted.' }) },
        },
      },
      async ({ principal, body }, reply) => {
        requireOrganizationAdmin(principal)
        const subject = readSubject(body)
        await inTransaction(postgres, async (client) => {
          const removed = await removeOptOut(client, principal.organizationId, subject)
          if (!removed) throw notFound.optOut()
          await audit(client, principal, 'opt_out.delete', { kind: 'opt_out', id: removed })
        })
        return reply.code(204).send(null)
      },
    )
  }
