import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { Field } from '../../../schemas/fields.ts'
import { ApiError } from '../../api/http/errors.ts'
import { streamOf } from '../../api/http/streamOf.ts'
import { chargedMeta } from '../../billing/chargedMeta.ts'
import { type ChargedRead, chargedRoute, hashesOf } from '../../billing/chargedRoute.ts'
import { readPeople, readPersonFields } from '../../identity/store/people.ts'
import type { ReadDeps } from '../query/deps.ts'
import { resultsOf } from './batch.ts'
import { countAskable, hemsOf, readItems } from './batchItems.ts'
import { hemOfNamedPerson } from './namedPerson.ts'
import { describeBatch, describeGet, describePost, type SubjectQuery } from './schemas.ts'

/** Most bytes of a batch: 10,000 items with the longest ids and addresses that are worth sending. */
const batchBytesMax = 8 * 1024 * 1024

type Asked = Static<typeof SubjectQuery>

/** Identity lookup: hashed or plain e-mail address → person. Charged for each person returned; misses are free. */
export const lookupRoutes =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const access = {
      to: 'key',
      projectKeys: 'as organization',
      keyRole: 'read',
      members: 'admins',
    } as const
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

    const lookUp = (
      request: FastifyRequest,
      reply: FastifyReply,
      { select, ...subject }: Asked,
    ): ChargedRead => {
      const hem = hemOfNamedPerson(subject)
      if (hem instanceof ApiError) throw hem
      const fields = readPersonFields(select)
      return {
        ...usage,
        recordsMax: 1,
        async read({ signal }) {
          const people = await read(request, [hem], fields, signal)
          return {
            records: people.size,
            hashes: () => hashesOf([...people.keys()]),
            answer(charged) {
              reply.type(json)
              const person = people.get(hem)
              const meta = JSON.stringify(chargedMeta(usage.meter, people.size, charged))
              return Buffer.from(
                `{"matched":${person !== undefined},"person":${person ?? null},"meta":${meta}}`,
              )
            },
          }
        },
      }
    }

    app.get(
      '/api/v1/lookup',
      { schema: describeGet, ...single },
      chargedRoute(deps.billing, describeGet, (request, reply) =>
        lookUp(request, reply, request.query),
      ),
    )
    app.post(
      '/api/v1/lookup',
      { schema: describePost, ...single },
      chargedRoute(deps.billing, describePost, (request, reply) =>
        lookUp(request, reply, request.body),
      ),
    )

    app.post(
      '/api/v1/lookup/batch',
      {
        schema: describeBatch,
        config: { access: { ...access, limit: 'batch_lookup' }, charged: true },
        bodyLimit: batchBytesMax,
      },
      chargedRoute(deps.billing, describeBatch, (request, reply) => {
        const items = readItems(request.body.items, { requiresId: false })
        const fields = readPersonFields(request.body.select)
        return {
          ...usage,
          recordsMax: countAskable(items),
          async read({ signal }) {
            const people = await read(request, hemsOf(items), fields, signal)
            const matched = items.filter(
              ({ asked }) => !(asked instanceof ApiError) && people.has(asked),
            )
            return {
              records: matched.length,
              hashes: () => hashesOf(matched.map(({ index }) => String(index))),
              rows: resultsOf(items, people),
              answer(charged, rows) {
                reply.type(json)
                const counts = {
                  count: items.length,
                  matched: matched.length,
                  charged,
                  meta: chargedMeta(usage.meter, matched.length, charged),
                }
                return streamOf(
                  enclosed('{"results":[', rows, `],${JSON.stringify(counts).slice(1)}`),
                )
              },
            }
          },
        }
      }),
    )
  }

/** Lookups are charged to the organization: they read no project. */
const usage = { meter: 'lookup', projectId: null } as const

async function* enclosed(start: string, rows: AsyncIterable<Buffer>, end: string) {
  yield start
  yield* rows
  yield end
}

const json = 'application/json; charset=utf-8'
