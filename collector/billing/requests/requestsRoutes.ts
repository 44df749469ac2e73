import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { RecordScopeOf } from '../../api/access/policy.ts'
import type { OpenQueryExecutor } from '../../api/access/queryExecutor.ts'
import { access } from '../../api/access/recordAccess.ts'
import type { Cursors } from '../../api/http/cursors.ts'
import { invalidParameter } from '../../api/http/errors.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import { dayMs } from '../../platform/days.ts'
import type { BillingDeps } from '../billingDeps.ts'
import {
  type ApiRequest,
  describeRequests,
  type RequestsQuery,
  retentionDays,
} from './requestSchemas.ts'
import {
  type CallerKind,
  type LoggedRequest,
  loggedNamedQuery,
  loggedQuery,
  type RequestCharge,
  type RequestCost,
  type RequestFilters,
  type RequestPosition,
  readCallerNames,
  readCharges,
  readChargesOf,
} from './requestsQuery.ts'

const limitDefault = 50
/** A request is charged before its response was sent. This is the largest difference of the two times. */
const apartMs = 3_600_000

interface RequestsDeps extends BillingDeps {
  openQueryExecutor: OpenQueryExecutor
  recordScopeOf: RecordScopeOf
  cursors: Cursors
}

/** GET /api/v1/requests: requests with their callers, results and charges. */
export const requestsRoutes =
  ({
    postgres,
    openQueryExecutor,
    recordScopeOf,
    cursors,
    now,
  }: RequestsDeps): FastifyPluginAsyncTypebox =>
  async (app) => {
    const places = cursors<RequestPosition>('requests')
    app.get(
      '/api/v1/requests',
      {
        schema: describeRequests,
        config: { access },
      },
      async ({ principal, query }, reply) => {
        const scope = await recordScopeOf(principal, query.project_id)
        const filters: RequestFilters = { scope, ...readFilters(query, now()) }
        const { limit = limitDefault, meter = null } = query
        const after =
          query.cursor === undefined ? null : places.read(scope.organizationId, query.cursor)
        const queryExecutor = openQueryExecutor(principal, {
          effort: 'page',
          signal: untilClosed(reply),
        })

        const isByCharge = query.charged === true || meter !== null
        const charges = isByCharge ? await readCharges(postgres, filters, meter, after, limit) : []
        const logged = isByCharge
          ? charges.length === 0
            ? []
            : await queryExecutor.rows<LoggedRequest>(
                loggedNamedQuery(filters, charges.map(idOf), [
                  charges.at(-1)!.at_ms - apartMs,
                  charges[0]!.at_ms + apartMs,
                ]),
              )
          : await queryExecutor.rows<LoggedRequest>(loggedQuery(filters, after, limit))
        const costOf = byId<RequestCost>(
          isByCharge ? charges : await readChargesOf(postgres, filters, logged.map(idOf)),
        )
        const loggedOf = byId(logged)

        const rows = isByCharge ? charges : logged
        const names = await readCallerNames(postgres, filters, [
          ...new Set(rows.map(({ caller_id }) => caller_id)),
        ])
        const page = rows.slice(0, limit)
        const last = page.at(-1)
        return {
          requests: page.map((one) =>
            publicRequest(one, loggedOf.get(one.request_id), costOf.get(one.request_id), names),
          ),
          ...(rows.length > limit && {
            next_cursor: places.write(scope.organizationId, [last!.at_ms, last!.request_id]),
          }),
        }
      },
    )
  }

/** Reads the filters, without the owner. Throws 400. */
function readFilters(
  { caller_id, caller_kind, request_id, route, status, start_date, end_date }: RequestsQuery,
  nowMs: number,
): Omit<RequestFilters, 'scope'> {
  const endMs = end_date === undefined ? nowMs + apartMs : Date.parse(end_date) + dayMs
  const startMs =
    start_date === undefined ? endMs - (retentionDays + 1) * dayMs : Date.parse(start_date)
  if (startMs >= endMs) throw invalidParameter('start_date', 'must not be after end_date')
  return {
    callerId: caller_id ?? null,
    callerKind: caller_kind ?? null,
    requestId: request_id ?? null,
    route: route ?? null,
    statuses: status === undefined ? null : statusesOf(status),
    startMs,
    endMs,
  }
}

const statusesOf = (status: string): readonly [number, number] =>
  status.endsWith('xx')
    ? [Number(status[0]) * 100, Number(status[0]) * 100 + 99]
    : [Number(status), Number(status)]

const idOf = ({ request_id }: { request_id: string }): string => request_id

const byId = <T extends { request_id: string }>(items: readonly T[]): Map<string, T> =>
  new Map(items.map((item) => [item.request_id, item]))

/** Jobs are charged without a logged request, and most requests cost nothing. */
function publicRequest(
  { request_id, at_ms, project_id, caller_id }: LoggedRequest | RequestCharge,
  logged: LoggedRequest | undefined,
  cost: RequestCost | undefined,
  names: ReadonlyMap<string, { kind: CallerKind; name: string }>,
): ApiRequest {
  const caller = names.get(caller_id)
  return {
    request_id,
    at: new Date(at_ms).toISOString(),
    project_id,
    caller: {
      kind: logged?.caller_kind ?? caller?.kind ?? 'job',
      id: caller_id,
      name: caller?.name ?? null,
    },
    mode: logged?.mode ?? 'live',
    method: logged?.method ?? null,
    route: logged?.route ?? null,
    target: logged?.target ?? null,
    status: logged?.status ?? null,
    error: logged?.error ?? null,
    latency_ms: logged?.latency_ms ?? null,
    meter: cost?.meter ?? null,
    records: cost?.records ?? 0,
    amount_micros: cost?.amount_micros ?? 0,
  }
}
