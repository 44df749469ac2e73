import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { Field } from '../../../schemas/fields.ts'
import { ApiError } from '../../api/http/errors.ts'
import { itemErrorOf } from '../../api/http/itemErrors.ts'
import { streamOf } from '../../api/http/streaming.ts'
import type { Delivery } from '../../billing/charge.ts'
import { chargedMeta } from '../../billing/chargedMeta.ts'
import { admit, hashesOf, settle } from '../../billing/chargedRequest.ts'
import { readPeople, readPersonFields } from '../../identity/store/people.ts'
import { jsonRows } from '../query/page/sendRows.ts'
import type { ReadDeps } from '../query/readDeps.ts'
import { countAskable, hemOfNamedPerson, hemsOf, type Item, readItems } from './batchItems.ts'
import { describeBatch, describeGet, describePost, type SubjectQuery } from './lookupSchemas.ts'

/** Most bytes of a batch: 10,000 items with long ids and addresses. */
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
        deps.openQueryExecutor(principal, { effort: 'page', signal }),
        principal.organizationId,
        hems,
        fields,
      )

    const lookUp = async (
      request: FastifyRequest,
      reply: FastifyReply,
      { select, ...subject }: Asked,
    ): Promise<Buffer> => {
      const hem = hemOfNamedPerson(subject)
      if (hem instanceof ApiError) throw hem
      const fields = readPersonFields(select)

      const admitted = await admit(deps.billing, request, reply, { ...usage, recordsMax: 1 })

      const people = await read(request, [hem], fields, admitted.signal)

      const { charged } = await settle(admitted, {
        records: people.size,
        hashes: () => hashesOf([...people.keys()]),
      })

      reply.type(json)
      const person = people.get(hem)
      const meta = JSON.stringify(chargedMeta(usage.meter, people.size, charged))
      return Buffer.from(
        `{"matched":${person !== undefined},"person":${person ?? null},"meta":${meta}}`,
      )
    }

    app.get('/api/v1/lookup', { schema: describeGet, ...single }, (request, reply) =>
      lookUp(request, reply, request.query),
    )
    app.post('/api/v1/lookup', { schema: describePost, ...single }, (request, reply) =>
      lookUp(request, reply, request.body),
    )

    app.post(
      '/api/v1/lookup/batch',
      {
        schema: describeBatch,
        config: { access: { ...access, limit: 'batch_lookup' }, charged: true },
        bodyLimit: batchBytesMax,
      },
      async (request, reply) => {
        const items = readItems(request.body.items, { requiresId: false })
        const fields = readPersonFields(request.body.select)

        const admitted = await admit(deps.billing, request, reply, {
          ...usage,
          recordsMax: countAskable(items),
        })

        const people = await read(request, hemsOf(items), fields, admitted.signal)
        const matched = items.filter(
          ({ hemOrError: asked }) => !(asked instanceof ApiError) && people.has(asked),
        )

        const { charged, rows } = await settle(admitted, {
          records: matched.length,
          hashes: () => hashesOf(matched.map(({ index }) => String(index))),
          rows: resultsOf(items, people),
        })

        reply.type(json)
        const counts = {
          count: items.length,
          matched: matched.length,
          charged,
          meta: chargedMeta(usage.meter, matched.length, charged),
        }
        return streamOf(jsonRows('results', rows, () => counts))
      },
    )
  }

/** The organization is charged, because lookups read no project. */
const usage = { meter: 'lookup', projectId: null } as const

const json = 'application/json; charset=utf-8'

/** Size of a piece: each piece costs a turn of the event loop and of the compressor. */
const pieceBytes = 64 * 1024

/** Yields the results of a batch as pieces of JSON; `people` are JSON objects by hem. */
async function* resultsOf(
  items: readonly Item[],
  people: ReadonlyMap<string, Buffer>,
): AsyncGenerator<Delivery> {
  let parts: Buffer[] = []
  let length = 0
  let records = 0
  for (const item of items) {
    const { index, id, hemOrError: asked } = item
    const named = `${index === 0 ? '' : ','}{"index":${index},"id":${JSON.stringify(id)}`
    const person = asked instanceof ApiError ? undefined : people.get(asked)
    const result = person
      ? [Buffer.from(`${named},"matched":true,"person":`), person, closing]
      : [Buffer.from(`${named},"matched":false,"person":null${errorOf(item)}}`)]
    for (const part of result) length += part.length
    parts.push(...result)
    if (person) records += 1
    if (length < pieceBytes && index < items.length - 1) continue
    yield { bytes: Buffer.concat(parts), records }
    parts = []
    length = 0
    records = 0
  }
}

const closing = Buffer.from('}')

const errorOf = ({ index, hemOrError: asked }: Item): string =>
  asked instanceof ApiError ? `,"error":${JSON.stringify(itemErrorOf(index, asked))}` : ''
