import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { Field } from '../../schemas/fields.ts'
import { hashesOf } from '../billing/billing.ts'
import { ApiError } from '../http/errors.ts'
import { untilClosed } from '../http/streaming.ts'
import { streamOf } from '../http/streamOf.ts'
import { readPeople, readPersonFields } from '../people/identity/people.ts'
import type { ReadDeps } from '../query/deps.ts'
import { hemsOf, readItems, resultsOf } from './batch.ts'
import { type BatchBody, describeBatch, describeGet, describePost, type SubjectQuery } from './schemas.ts'
import { hemOfSubject } from './subject.ts'

/** Most bytes of a batch: 10,000 items with the longest ids and addresses that are worth sending. */
const batchBytesMax = 8 * 1024 * 1024

type Asked = Static<typeof SubjectQuery>

/** Identity lookup: hashed or plain e-mail address → person. Charged for each person returned; misses are free. */
export const lookupRoutes =
  (deps: ReadDeps): FastifyPluginAsync =>
  async (app) => {
    const access = { to: 'key', projectKeys: 'as organization', keyRole: 'read' } as const
    const single = {
      config: { access: { ...access, limit: 'data' }, charged: true },
    } as const

    const read = (
      { principal }: FastifyRequest,
      hems: readonly string[],
      fields: readonly Field[] | null,
      signal: AbortSignal,
    ) =>
      readPeople(
        deps.openReader(principal, { effort: 'page', signal }),
        principal.organizationId,
        hems,
        fields,
      )

    const lookUp = async (request: FastifyRequest, reply: FastifyReply, { select, ...subject }: Asked) => {
      const signal = untilClosed(reply)
      const hem = hemOfSubject(subject)
      if (hem instanceof ApiError) throw hem
      const fields = readPersonFields(select)
      const charge = await deps.billing.admit(request, { meter: 'lookup', projectId: null, signal })
      const people = await read(request, [hem], fields, signal)
      const person = people.get(hem)
      reply
        .header('x-footfall-charged', await charge.settle(people.size, hashesOf(charge, [...people.keys()])))
        .type(json)
      return Buffer.from(person ? `{"matched":true,"person":${person}}` : '{"matched":false,"person":null}')
    }

    app.get<{ Querystring: Asked }>('/api/v1/lookup', { schema: describeGet, ...single }, (request, reply) =>
      lookUp(request, reply, request.query),
    )
    app.post<{ Body: Asked }>('/api/v1/lookup', { schema: describePost, ...single }, (request, reply) =>
      lookUp(request, reply, request.body),
    )

    app.post<{ Body: Static<typeof BatchBody> }>(
      '/api/v1/lookup/batch',
      {
        schema: describeBatch,
        config: { access: { ...access, limit: 'batch_lookup' }, charged: true },
        bodyLimit: batchBytesMax,
      },
      async (request, reply) => {
        const signal = untilClosed(reply)
        const items = readItems(request.body.items)
        const fields = readPersonFields(request.body.select)
        const charge = await deps.billing.admit(request, { meter: 'lookup', projectId: null, signal })
        const people = await read(request, hemsOf(items), fields, signal)
        const matched = items.filter(({ asked }) => !(asked instanceof ApiError) && people.has(asked))
        const charged = await charge.settle(
          matched.length,
          hashesOf(
            charge,
            matched.map(({ index }) => String(index)),
          ),
        )
        reply.header('x-footfall-charged', charged).type(json)
        return reply.send(streamOf(body()))

        async function* body() {
          yield '{"results":['
          yield* charge.deliver(resultsOf(items, people))
          yield `],"count":${items.length},"matched":${matched.length},"charged":${charged}}`
        }
      },
    )
  }

const json = 'application/json; charset=utf-8'
