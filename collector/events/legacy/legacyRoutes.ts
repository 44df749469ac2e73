import { text } from 'node:stream/consumers'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { typesOf } from '../../../schemas/events/index.ts'
import { fields, isIdentityField, publicField } from '../../../schemas/fields.ts'
import type { Effort, QueryExecutor } from '../../api/access/queryExecutor.ts'
import { contentTypeOf } from '../../api/http/negotiateFormat.ts'
import { plainSerializer } from '../../api/http/serialization.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import {
  type AdmittedRequest,
  admit,
  type ReadRecords,
  settle,
} from '../../billing/chargedRequest.ts'
import { countsAnswer, indexOf, readCounts } from '../query/counts/counts.ts'
import type { Selection } from '../query/filter/selection.ts'
import type { EventsPlan } from '../query/page/eventsPlan.ts'
import { eventsQuery } from '../query/page/eventsQuery.ts'
import type { ParsedRequest } from '../query/page/parseEventsRequest.ts'
import { readEventHashes, readEventRecords, readsPeople } from '../query/page/readPage.ts'
import { outputFormat, type RowEncoding, rowEncoding } from '../query/page/rowEncoding.ts'
import { readUnchanged, requireExpected } from '../query/profiles/expectedRecords.ts'
import { nameProjects } from '../query/projects.ts'
import type { ReadDeps } from '../query/readDeps.ts'
import { type LegacyVersion, readLegacyEvents, readNarrowestScope } from './legacy.ts'
import {
  describeLegacyEvents,
  describeScanEstimate,
  describeV1Counts,
  describeV1Index,
  describeV1Schema,
} from './legacySchemas.ts'
import { decidingFields, meterOf, meterOfRows, metersOf } from './meter.ts'
import { estimateScan } from './scanEstimate.ts'
import { readV1Counts, readV1Index, v1 } from './v1.ts'

/** Events, versions 1 and 2: pages of at most 1,000 events, counts, their index, fields, and scan estimates. */
export const legacyRoutes =
  (deps: ReadDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    app.setSerializerCompiler(plainSerializer)
    const access = {
      to: 'key',
      projectKeys: 'own project',
      keyRole: 'read',
      limit: 'events',
    } as const

    const readerOf = (
      { principal }: FastifyRequest,
      reply: FastifyReply,
      effort: Effort,
      { window }: Selection,
    ) => deps.openQueryExecutor(principal, { effort, signal: untilClosed(reply), window })
    const scoped = async <Plan extends Selection>(
      { principal }: FastifyRequest,
      { requestedScope, plan }: ParsedRequest<Plan>,
    ) => ({
      ...plan,
      scope: await deps.scopeOf(principal, requestedScope),
    })

    /**
     * Scopes a count. A number of events by the identity of their visitors requires the right to read identities, and
     * takes one of the day's free answers.
     */
    const scopedCount = async <Plan extends Selection & Pick<EventsPlan, 'distinct'>>(
      request: FastifyRequest,
      { requestedScope, plan }: ParsedRequest<Plan>,
    ) => {
      const isAboutPeople = decidingFields(plan).some(isIdentityField)
      const action = isAboutPeople ? 'identity' : 'read'
      const scope = await deps.scopeOf(request.principal, requestedScope, action)
      if (isAboutPeople) await deps.allowance.takeForRequest(request)
      return { ...plan, scope }
    }

    for (const [path, version] of [
      ['/api/v1/events', v1],
      ['/api/v2/events', v2],
    ] as const) {
      app.get(
        path,
        { schema: describeLegacyEvents(version), config: { access, charged: true } },
        async (request, reply) => {
          const { principal } = request
          const legacy = readLegacyEvents(request, version)
          const draftPlan = await scoped(request, legacy)
          const { isSelected } = legacy
          const named = decidingFields(draftPlan)
          if (isSelected) named.push(...draftPlan.columns)

          // Without select the rows determine the meter.
          const meters = isSelected ? [meterOf(named)] : metersOf(named, draftPlan.columns)
          const admitted = await admit(deps.billing, request, reply, {
            meter: meters[0]!,
            otherMeters: meters.slice(1),
            projectId: draftPlan.scope.projectId,
            recordsMax: draftPlan.limit,
          })

          const { signal, repeatedWindow: window = draftPlan.window } = admitted
          const by = { effort: 'page', signal, window } as const
          const queryExecutor = deps.openQueryExecutor(principal, by)
          const plan = await nameProjects(queryExecutor, { ...draftPlan, window })
          const { rows: page, hashes } = await readRowsFor(admitted, queryExecutor, plan)
          const rows = page.slice(0, plan.limit)
          const records = rows.length
          const meter = isSelected
            ? meterOf(named)
            : meterOfRows(rows, { fields: plan.columns, named })

          const { charged } = await settle(admitted, {
            records,
            meter,
            window,
            hashes,
          })

          const meta = {
            meter,
            records,
            charged,
            start_ms: window.startMs,
            end_ms: window.endMs - (version.includesEnd ? 1 : 0),
            offset: plan.offset,
            limit: plan.limit,
            has_more: page.length > plan.limit,
            request_id: request.id,
          }
          reply.type(contentTypeOf('json'))
          return Buffer.from(`{"rows":[${rows.join(',')}],"meta":${JSON.stringify(meta)}}`)
        },
      )
    }

    app.get(
      '/api/v1/events/scan_estimate',
      {
        schema: describeScanEstimate,
        config: { access: { ...access, members: true }, freeAnswers: true },
      },
      async (request, reply) => {
        const read = readLegacyEvents(request, { ...v1, windowMsMax: null })
        const plan = await scopedCount(request, read)
        const { startMs, endMs } = plan.window
        return {
          estimate: await estimateScan(readerOf(request, reply, 'scan', plan), plan),
          meta: { start_ms: startMs, end_ms: endMs, request_id: request.id },
        }
      },
    )

    app.get(
      '/api/v1/event_counts',
      { schema: describeV1Counts, config: { access, freeAnswers: true } },
      async (request, reply) => {
        const plan = await scopedCount(request, readV1Counts(request))
        const counts = await readCounts(readerOf(request, reply, 'scan', plan), plan)
        return countsAnswer(counts, plan, request.id)
      },
    )

    app.get(
      '/api/v1/event_counts_index',
      { schema: describeV1Index, config: { access, freeAnswers: true } },
      async (request, reply) => {
        const read = readV1Index(request)
        const plan = await scopedCount(request, read)
        const counts = await readCounts(readerOf(request, reply, 'scan', plan), plan)
        const { counts: _, ...answer } = countsAnswer(counts, plan, request.id)
        return { interval: read.interval, index: indexOf(counts, read.interval), ...answer }
      },
    )

    app.get(
      '/api/v1/events_schema',
      { schema: describeV1Schema, config: { access } },
      async (request) => {
        await deps.scopeOf(request.principal, readNarrowestScope(request))
        return {
          fields: fields.map((field) => ({ ...publicField(field), type: field.dataType })),
          event_types: typesOf(request.query.source ?? null),
        }
      },
    )
  }

/** Reads the rows of a plan and the one after them, and their hashes for a charge that names people. */
async function readRowsFor(
  { charge }: AdmittedRequest,
  queryExecutor: QueryExecutor,
  plan: EventsPlan,
): Promise<{ rows: string[] } & Required<Pick<ReadRecords, 'hashes'>>> {
  if (!charge.isRepeatable || !readsPeople(plan)) {
    const rows = await readRows(queryExecutor, plan)
    return { rows, hashes: () => readEventHashes(queryExecutor, plan) }
  }
  const { rows, hashes } = await readUnchanged(
    () => readEventRecords(queryExecutor, plan),
    async (expected) => {
      const eventRows = await readRows(queryExecutor, { ...plan, expected })
      requireExpected(expected, eventRows.length)
      return eventRows
    },
  )
  return { rows, hashes: () => hashes.slice(0, plan.limit) }
}

/** The rows of a page, and one more if there are more: texts, because only the meter needs their values. */
async function readRows(queryExecutor: QueryExecutor, plan: EventsPlan): Promise<string[]> {
  const encoding: RowEncoding = {
    ...rowEncoding(plan, 'json', {
      leadsWithNext: false,
      isOfOneServer: queryExecutor.clickhouse.shards.length === 1,
    }),
    membersOfNobody: 'null',
  }
  const output = outputFormat(plan.columns, encoding)
  const { body } = await queryExecutor.stream(eventsQuery(plan, encoding), output)
  return (await text(body)).split('\n').filter(Boolean)
}

/**
 * Events, version 2: like version 1, with DSP events for source=svcdsp (spec: Events, versions 1 and 2). Both
 * bounds of the window are inclusive, and its length is not limited.
 */
export const v2: LegacyVersion = { windowMsMax: null, includesEnd: true }
