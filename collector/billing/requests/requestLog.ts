import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { isUuid } from '../../../schemas/uuid.ts'
import { callerId, type Principal } from '../../api/access/principal.ts'
import { onEachAnswer } from '../../api/http/eachAnswer.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import type { WarnLog } from '../../platform/log.ts'

interface RequestRow {
  organization_id: string
  at: string
  request_id: string
  project_id: string | null
  caller_kind: Principal['caller']['kind']
  caller_id: string
  mode: 'live' | 'test'
  method: string
  route: string
  target: string
  status: number
  error: string
  latency_ms: number
}

export interface RequestLog {
  /** Keeps a row, to be written within a second; returns at once. */
  add(row: RequestRow): void
  /** Resolves when all added rows are written or dropped. */
  close(): Promise<void>
}

const flushMs = 1_000
/** Maximum number of waiting rows: without ClickHouse, the oldest are dropped. */
const waitingMax = 10_000

/** Opens the log of requests. No request waits for it. A row that cannot be written is dropped alone. */
export function openRequestLog(
  clickhouse: Pick<ClickHouse, 'insertLines'>,
  log: WarnLog,
): RequestLog {
  let waiting: RequestRow[] = []
  let flushing = Promise.resolve()

  const flush = async () => {
    const rows = waiting
    waiting = []
    if (rows.length === 0) return
    const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
    try {
      await clickhouse.insertLines(
        'api_requests',
        Readable.from([lines], { objectMode: false }),
        randomUUID(),
      )
    } catch (error) {
      log.warn(
        { requests: rows.length, error: (error as Error).message },
        'requests are missing from the log',
      )
    }
  }
  const flushNext = () => {
    flushing = flushing.then(flush)
    return flushing
  }
  const timer = setInterval(flushNext, flushMs)
  timer.unref()

  return {
    add(row) {
      if (waiting.length >= waitingMax) waiting.shift()
      waiting.push(row)
    },
    close() {
      clearInterval(timer)
      return flushNext()
    },
  }
}

/** Logs every API request of a known caller when its answer ends, also if its client disconnects. */
export function logRequests(app: FastifyInstance, requestLog: RequestLog): void {
  onEachAnswer(app, (request, reply) => {
    const { askedBy, routeOptions } = request
    if (!askedBy || !routeOptions.url?.startsWith('/api/')) return
    const query = request.query as Record<string, unknown>
    const named = query.project_id ?? request.headers['x-project-id']
    requestLog.add({
      organization_id: askedBy.organizationId,
      at: new Date(Date.now() - reply.elapsedTime).toISOString(),
      request_id: request.id,
      project_id: askedBy.projectId ?? (isUuid(named) ? named.toLowerCase() : null),
      caller_kind: askedBy.caller.kind,
      caller_id: callerId(askedBy),
      mode: askedBy.mode,
      method: request.method,
      route: routeOptions.url,
      target: targetOf(routeOptions.url, request.params as Record<string, unknown>, query),
      status: reply.statusCode,
      error: request.errorCode ?? '',
      latency_ms: Math.round(reply.elapsedTime),
    })
  })
}

/** Parameters with values that contain neither personal data nor secrets. */
const shown = new Set([
  'project_id',
  'pixel_id',
  'campaign_id',
  'audience_id',
  'list_id',
  'source',
  'kind',
  'tier',
  'start_ms',
  'end_ms',
  'start_time',
  'end_time',
  'start_date',
  'end_date',
  'limit',
  'page_size',
  'offset',
  'select',
  'distinct',
  'group_by',
  'order',
  'format',
  'interval',
  'include_dsp',
  'status',
  'meter',
])
const targetCharsMax = 500

/**
 * Returns the target of a request as the log may store it. It is the route's path with its ids, and its query
 * with the values of harmless parameters. For all others (filters, e-mail addresses, hashes, cursors) it has
 * only the names.
 */
function targetOf(
  route: string,
  params: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, unknown>>,
): string {
  const path = route.replace(/:(\w+)/g, (name, key: string) =>
    isUuid(params[key]) ? params[key] : name,
  )
  const pairs = Object.entries(query).map(([name, value]) => {
    const isShown = shown.has(name) && typeof value !== 'object'
    return `${encodeURIComponent(name)}=${isShown ? encodeURIComponent(String(value)) : '…'}`
  })
  const target = pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
  return target.slice(0, targetCharsMax).toWellFormed()
}
