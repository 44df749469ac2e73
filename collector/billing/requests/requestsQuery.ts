import type { RecordScope } from '../../api/access/policy.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import type { Meter } from '../meters.ts'

/** Filters of the requests. Null: any. */
export interface RequestFilters {
  scope: RecordScope
  callerId: string | null
  callerKind: 'key' | 'member' | null
  requestId: string | null
  route: string | null
  /** From the first to the last status. */
  statuses: readonly [from: number, to: number] | null
  startMs: number
  /** Exclusive. */
  endMs: number
}

/** The place of a row in a list: newest first. */
export type RequestPosition = readonly [atMs: number, requestId: string]

/** Kind of caller: a key, a member, or a viewer with a share link. */
export type CallerKind = 'key' | 'member' | 'share'

export interface LoggedRequest {
  request_id: string
  at_ms: number
  project_id: string | null
  caller_kind: CallerKind
  caller_id: string
  mode: 'live' | 'test'
  method: string
  route: string
  target: string
  status: number
  error: string | null
  latency_ms: number
}

const columns = `request_id, toUnixTimestamp64Milli(at) AS at_ms, project_id, caller_kind, caller_id, mode, method,
  route, target, status, nullIf(error, '') AS error, latency_ms`

/** Returns a page of the log, and one more row if there are more. */
export const loggedQuery = (
  filters: RequestFilters,
  after: RequestPosition | null,
  limit: number,
): Query => ({
  sql: `
    SELECT ${columns} FROM api_requests
    WHERE organization_id = {organization:UUID}
      AND at >= fromUnixTimestamp64Milli({start:Int64}) AND at < fromUnixTimestamp64Milli({end:Int64})
      AND ({anyProject:Bool} OR has({projects:Array(UUID)}, assumeNotNull(project_id)))
      AND ({caller:Nullable(UUID)} IS NULL OR caller_id = {caller:Nullable(UUID)})
      AND ({callerKind:String} = '' OR caller_kind = {callerKind:String})
      AND ({request:Nullable(UUID)} IS NULL OR request_id = {request:Nullable(UUID)})
      AND ({route:String} = '' OR position(route, {route:String}) > 0)
      AND status BETWEEN {statusFrom:UInt16} AND {statusTo:UInt16}
      AND ({isFirst:Bool} OR (at, request_id) < (fromUnixTimestamp64Milli({afterAt:Int64}), {afterId:UUID}))
    ORDER BY at DESC, request_id DESC
    LIMIT {rows:UInt32}`,
  params: {
    organization: filters.scope.organizationId,
    start: filters.startMs,
    end: filters.endMs,
    anyProject: filters.scope.projectIds === null,
    projects: filters.scope.projectIds ?? [],
    caller: filters.callerId,
    callerKind: filters.callerKind ?? '',
    request: filters.requestId,
    route: filters.route ?? '',
    statusFrom: filters.statuses?.[0] ?? 0,
    statusTo: filters.statuses?.[1] ?? 999,
    isFirst: after === null,
    afterAt: after?.[0] ?? 0,
    afterId: after?.[1] ?? noId,
    rows: limit + 1,
  },
})

/** Selects the log entries of these requests, at any time. */
export const loggedNamedQuery = (
  { scope }: RequestFilters,
  requestIds: readonly string[],
  [fromMs, toMs]: readonly [number, number],
): Query => ({
  sql: `
    SELECT ${columns} FROM api_requests
    WHERE organization_id = {organization:UUID} AND has({requests:Array(UUID)}, request_id)
      AND at BETWEEN fromUnixTimestamp64Milli({from:Int64}) AND fromUnixTimestamp64Milli({to:Int64})`,
  params: { organization: scope.organizationId, requests: requestIds, from: fromMs, to: toMs },
})

const noId = '00000000-0000-0000-0000-000000000000'

export interface RequestCost {
  request_id: string
  meter: Meter
  /** Less what was refunded. */
  records: number
  amount_micros: number
}

/** An entry of the ledger with its time and its caller. */
export interface RequestCharge extends RequestCost {
  at_ms: number
  project_id: string | null
  caller_id: string
}

const charges = `
  SELECT charge.request_id, floor(extract(epoch FROM charge.at) * 1000)::float8 AS at_ms, charge.project_id, charge.caller_id,
    charge.meter, (charge.records + coalesce(refunds.records, 0))::float8 AS records,
    (charge.amount_micros + coalesce(refunds.amount_micros, 0))::float8 AS amount_micros
  FROM ledger AS charge
  LEFT JOIN LATERAL (
    SELECT sum(records) AS records, sum(amount_micros) AS amount_micros
    FROM ledger AS refund WHERE refund.request_id = charge.request_id AND refund.kind = 'refund') AS refunds ON true
  WHERE charge.kind = 'charge' AND charge.organization_id = $1`

/** Returns a page of charges, and one more row if there are more. */
export async function readCharges(
  postgres: Postgres,
  { scope, callerId, requestId, startMs, endMs }: RequestFilters,
  meter: Meter | null,
  after: RequestPosition | null,
  limit: number,
): Promise<RequestCharge[]> {
  const { rows } = await postgres.query<RequestCharge>(
    `${charges}
       AND charge.at >= $2 AND charge.at < $3
       AND ($4::uuid[] IS NULL OR charge.project_id = ANY ($4))
       AND ($5::uuid IS NULL OR charge.caller_id = $5)
       AND ($6::uuid IS NULL OR charge.request_id = $6 OR charge.for_request = $6)
       AND ($7::text IS NULL OR charge.meter = $7)
       AND ($8::timestamptz IS NULL OR (charge.at, charge.request_id) < ($8, $9))
     ORDER BY charge.at DESC, charge.request_id DESC LIMIT $10`,
    [
      scope.organizationId,
      new Date(startMs),
      new Date(endMs),
      scope.projectIds,
      callerId,
      requestId,
      meter,
      after && new Date(after[0]),
      after?.[1] ?? null,
      limit + 1,
    ],
  )
  return rows
}

/** Reads the cost of each request: its own charge and those of the run that it started. */
export async function readChargesOf(
  postgres: Postgres,
  { scope }: RequestFilters,
  requestIds: readonly string[],
): Promise<RequestCost[]> {
  const { rows } = await postgres.query<RequestCost>(
    `SELECT coalesce(for_request, request_id) AS request_id, min(meter) AS meter, sum(records)::float8 AS records,
       sum(amount_micros)::float8 AS amount_micros
     FROM ledger
     WHERE organization_id = $1 AND (request_id = ANY ($2) AND for_request IS NULL OR for_request = ANY ($2))
     GROUP BY 1`,
    [scope.organizationId, requestIds],
  )
  return rows
}

export async function readCallerNames(
  postgres: Postgres,
  { scope }: RequestFilters,
  callerIds: readonly string[],
): Promise<Map<string, { kind: CallerKind; name: string }>> {
  const { rows } = await postgres.query<{ id: string; kind: CallerKind; name: string }>(
    `SELECT key_id AS id, 'key' AS kind, name FROM api_keys WHERE organization_id = $1 AND key_id = ANY ($2)
     UNION ALL
     SELECT member_id, 'member', coalesce(name, email) FROM members WHERE organization_id = $1 AND member_id = ANY ($2)
     UNION ALL
     SELECT share_id, 'share', share_links.name FROM share_links JOIN projects USING (project_id)
     WHERE organization_id = $1 AND share_id = ANY ($2)`,
    [scope.organizationId, callerIds],
  )
  return new Map(rows.map(({ id, kind, name }) => [id, { kind, name }]))
}
