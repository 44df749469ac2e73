import type { Readable } from 'node:stream'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import { audit } from '../../access/audit.ts'
import { requireOrganizationAdmin } from '../../access/permissions.ts'
import type { Principal } from '../../access/principal.ts'
import type { OpenReader } from '../../access/reader.ts'
import type { Cursors } from '../../http/cursors.ts'
import { forbidden, notFound } from '../../http/errors.ts'
import { NextCursor, pageQuery, readPage } from '../../http/pagination.ts'
import { Choice, exactly, Id, Nullable, Timestamp } from '../../http/schemas.ts'
import { startingWith, untilClosed } from '../../http/streaming.ts'
import { streamOf } from '../../http/streamOf.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { arrivingMs, type Erasure, readErasure, requestErasure, selectErasures } from './erasures.ts'
import { exportSubject } from './export.ts'
import { exportsPerDay, noteExport } from './exportLimit.ts'
import { addOptOut, type OptOut, removeOptOut, selectOptOuts } from './optOuts.ts'
import { readSubject } from './subject.ts'

export interface PrivacyDeps {
  postgres: Postgres
  cursors: Cursors
  openReader: OpenReader
}

const tags = ['Privacy']

const subject = {
  hem: Type.Optional(
    Type.String({
      pattern: '^[0-9a-fA-F]{64}$',
      description: 'SHA-256, hex, of the trimmed, lower-cased address.',
    }),
  ),
  email: Type.Optional(Type.String({ format: 'email', maxLength: 254 })),
  cookie_id: Type.Optional(Type.String({ format: 'uuid', description: 'One browser.' })),
}
const oneOf = 'Give exactly one of hem, email and cookie_id.'

const PublicErasure = Type.Object(
  {
    erasure_id: Id,
    status: Type.Union([Type.Literal('pending'), Type.Literal('complete')]),
    step: Choice(['deleting', 'waiting', 'complete'], {
      description:
        'deleting: what is stored is being deleted; waiting: nothing is stored any longer, and what was on its way when ' +
        'it was asked for may still arrive, and goes too; complete.',
    }),
    requested_at: Timestamp,
    emptied_at: Nullable(Timestamp, { description: 'When nothing was stored any longer.' }),
    complete_from: {
      ...Timestamp,
      description:
        'It is complete then at the earliest; later where a collector still has something of before.',
    },
    completed_at: Nullable(Timestamp),
  },
  { title: 'Erasure' },
)

const PublicOptOut = Type.Object(
  {
    opt_out_id: Id,
    hem: Nullable(Type.String()),
    cookie_id: Nullable(Id),
    created_at: Timestamp,
  },
  { title: 'OptOut' },
)

/** /api/v1/privacy/*: what people may ask of those who collect. For owners, admins and organization keys; never billed. */
export const privacyRoutes =
  (deps: PrivacyDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const { postgres, openReader } = deps
    const config = {
      access: { to: 'key', projectKeys: 'refused', keyRole: 'admin', limit: 'data', members: true },
    } as const

    app.delete(
      '/api/v1/privacy/subject',
      {
        config,
        schema: {
          ...{ tags, operationId: 'eraseSubject', summary: 'Erase a person or a browser' },
          description:
            'Events, rejected events and links of the organization go, those on their way too. The subject also ' +
            `opts out, unless opt_out is false. Ask for the erasure until it is complete. ${oneOf}`,
          body: exactly({ ...subject, opt_out: Type.Optional(Type.Boolean({ default: true })) }),
          response: { 202: Type.Object({ erasure: PublicErasure }) },
        },
      },
      async ({ principal, body: { opt_out = true, ...given } }, reply) => {
        requireAdmin(principal)
        const subject = readSubject(given)
        const { organizationId } = principal
        const erasure = await inTransaction(postgres, async (client) => {
          if (opt_out) await addOptOut(client, organizationId, subject)
          const requested = await requestErasure(client, organizationId, subject)
          // The log outlives the subject's data: it does not say whom it was about.
          const object = { kind: 'erasure', id: requested.erasure_id } as const
          await audit(client, principal, 'erasure.create', object, { opt_out })
          return requested
        })
        return reply.code(202).send({ erasure: publicErasure(erasure) })
      },
    )

    app.get(
      '/api/v1/privacy/erasures',
      {
        config,
        schema: {
          ...{
            tags,
            operationId: 'listErasures',
            description: 'Oldest first.',
            summary: 'List erasure requests',
            querystring: exactly(pageQuery),
          },
          response: { 200: Type.Object({ erasures: Type.Array(PublicErasure), next_cursor: NextCursor }) },
        },
      },
      async ({ principal, query }) => {
        requireAdmin(principal)
        const { rows, next } = await readPage<Erasure>(deps, query, {
          ...{ list: 'erasures', owner: principal.organizationId },
          ...{ sql: selectErasures, values: [principal.organizationId] },
          key: { created_at: 'timestamptz', erasure_id: 'uuid' },
        })
        return { erasures: rows.map(publicErasure), ...next }
      },
    )

    app.get(
      '/api/v1/privacy/erasures/:erasure_id',
      {
        config,
        schema: {
          ...{
            tags,
            operationId: 'getErasure',
            description: 'Whether it is complete.',
            summary: 'Get an erasure request',
            params: exactly({ erasure_id: Id }),
          },
          response: { 200: Type.Object({ erasure: PublicErasure }) },
        },
      },
      async ({ principal, params }) => {
        requireAdmin(principal)
        const erasure = await readErasure(postgres, params.erasure_id, principal.organizationId)
        if (!erasure) throw notFound.erasure()
        return { erasure: publicErasure(erasure) }
      },
    )

    app.get(
      '/api/v1/privacy/subject',
      {
        config,
        schema: {
          ...{
            tags,
            operationId: 'exportSubject',
            summary: 'Export the data of a person or a browser',
            querystring: exactly(subject),
          },
          description:
            'JSON lines `{ "kind": "link" | "event" | "rejected_event" | "list_member", "data": {…} }`: what the ' +
            `organization’s sites observed, and which of its lists they are in. Not charged; in the audit log; at most ${exportsPerDay} in 24 hours. ${oneOf}`,
          response: {
            200: {
              description: 'One line for each.',
              content: { 'application/x-ndjson': { schema: Type.Unsafe<Readable | string>(Type.String()) } },
            },
          },
        },
      },
      async ({ principal, query }, reply) => {
        requireAdmin(principal)
        const subject = readSubject(query)
        await noteExport(postgres, principal, Object.keys(query)[0]!)
        const reader = openReader(principal, { effort: 'scan', signal: untilClosed(reply) })
        const lines = exportSubject({ reader, postgres }, principal.organizationId, subject)
        // Begun before the answer is, so that what fails at once is an error and not a broken answer.
        const { value, done } = await lines.next()
        reply.header('content-type', 'application/x-ndjson; charset=utf-8')
        if (done) return reply.send('')
        return reply.send(streamOf(startingWith(value, lines)))
      },
    )

    app.get(
      '/api/v1/privacy/opt-outs',
      {
        config,
        schema: {
          ...{
            tags,
            operationId: 'listOptOuts',
            description: 'Of people and of browsers, oldest first.',
            summary: 'List opt-outs',
            querystring: exactly(pageQuery),
          },
          response: { 200: Type.Object({ opt_outs: Type.Array(PublicOptOut), next_cursor: NextCursor }) },
        },
      },
      async ({ principal, query }) => {
        requireAdmin(principal)
        const { rows, next } = await readPage<OptOut>(deps, query, {
          ...{ list: 'opt_outs', owner: principal.organizationId },
          ...{ sql: selectOptOuts, values: [principal.organizationId] },
          key: { created_at: 'timestamptz', opt_out_id: 'uuid' },
        })
        return { opt_outs: rows.map(publicOptOut), ...next }
      },
    )

    app.post(
      '/api/v1/privacy/opt-outs',
      {
        config,
        schema: {
          ...{
            tags,
            operationId: 'createOptOut',
            summary: 'Opt a person or a browser out',
            body: exactly(subject),
          },
          description: `Nothing of theirs is accepted any more, and no read says who they are. ${oneOf}`,
          response: { 201: Type.Object({ opt_out: PublicOptOut }) },
        },
      },
      async ({ principal, body }, reply) => {
        requireAdmin(principal)
        const subject = readSubject(body)
        const optOut = await inTransaction(postgres, async (client) => {
          const added = await addOptOut(client, principal.organizationId, subject)
          await audit(client, principal, 'opt_out.create', { kind: 'opt_out', id: added.opt_out_id })
          return added
        })
        return reply.code(201).send({ opt_out: publicOptOut(optOut) })
      },
    )

    app.delete(
      '/api/v1/privacy/opt-outs',
      {
        config,
        schema: {
          ...{
            tags,
            operationId: 'deleteOptOut',
            summary: 'Delete the opt-out of a person or a browser',
            body: exactly(subject),
          },
          description: oneOf,
          response: { 200: Type.Object({ deleted: Type.Literal(true) }) },
        },
      },
      async ({ principal, body }) => {
        requireAdmin(principal)
        const subject = readSubject(body)
        await inTransaction(postgres, async (client) => {
          const removed = await removeOptOut(client, principal.organizationId, subject)
          if (!removed) throw notFound.optOut()
          await audit(client, principal, 'opt_out.delete', { kind: 'opt_out', id: removed })
        })
        return { deleted: true as const }
      },
    )
  }

function requireAdmin(principal: Principal): void {
  requireOrganizationAdmin(principal)
  if (principal.mode === 'test') throw forbidden('A test key reads sample data, which is about nobody.')
}

const publicErasure = ({
  erasure_id,
  requested_at,
  emptied_at,
  finished_at,
}: Erasure): Static<typeof PublicErasure> => ({
  erasure_id,
  status: finished_at ? 'complete' : 'pending',
  step: finished_at ? 'complete' : emptied_at ? 'waiting' : 'deleting',
  requested_at: requested_at.toISOString(),
  emptied_at: emptied_at?.toISOString() ?? null,
  complete_from: new Date(requested_at.getTime() + arrivingMs).toISOString(),
  completed_at: finished_at?.toISOString() ?? null,
})

const publicOptOut = ({ opt_out_id, hem, cookie_id, created_at }: OptOut): Static<typeof PublicOptOut> => ({
  ...{ opt_out_id, hem, cookie_id },
  created_at: created_at.toISOString(),
})
