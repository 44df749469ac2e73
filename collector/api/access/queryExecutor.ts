import { text } from 'node:stream/consumers'
import type { Config } from '../../config.ts'
import type {
  ClickHouse,
  ListQuery,
  OutputFormat,
  ResultStream,
  Statement,
} from '../../platform/clickhouse/client.ts'
import { type SharedCalls, sharedCalls } from '../../platform/sharedCalls.ts'
import { ClickHouseRefused } from '../../platform/storeErrors.ts'
import { busy, ClientDisconnected, queryTooHeavy } from '../http/errors.ts'
import { ConcurrencyLimiter, type ConcurrencyLimits } from './concurrencyLimiter.ts'

/**
 * Runs the ClickHouse queries of one request. Queries wait for a slot of their organization, have limits of
 * time and memory, and end when the client disconnects. They throw 503 "busy", 400 "query_too_heavy", and
 * ClientDisconnected.
 */
export interface QueryExecutor {
  /** A connection for reads whose result other callers share, so it does not end with this caller. */
  readonly clickhouse: ClickHouse
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal
  /** Runs a query and parses its rows. Use it for small results: above 64 MB it throws 400 "query_too_heavy". */
  rows<Row>(query: Statement): Promise<Row[]>
  /**
   * The same, but joins an equal query that another request of this organization runs. So it does not end with its caller,
   * and has the time of a complete request. Callers must not change the rows.
   */
  sharedRows<Row>(query: Statement): Promise<Row[]>
  /** Runs a query and returns its bytes unparsed. */
  stream(query: Statement | ListQuery, format: OutputFormat): Promise<ResultStream>
  /** Returns an executor on one of the servers (ClickHouse.shards), with the same limits. */
  through(server: ClickHouse): QueryExecutor
}

/** How much a read may use of ClickHouse: a page stops when it is full, a scan reads its complete window. */
export type Effort = 'page' | 'scan'

interface ReadBy {
  readonly effort: Effort
  readonly signal: AbortSignal
  /** The window of the read, if it has one, for the error of a query that is too heavy. */
  readonly window?: { readonly startMs: number; readonly endMs: number } | undefined
}

interface ReadLimits {
  /** Time limit of all queries of a request together. */
  readonly secondsMax: number
  readonly memoryBytesMax: number
  /** Number of threads of a scan, which leaves cores to other queries (test/bench/neighbours.ts). */
  readonly scanThreads: number
}

/** Limits of one organization in one process. A query that waits longer than `waitMs` gets 503. */
const concurrencyLimits: Record<Effort, ConcurrencyLimits> = {
  page: { atOnce: 8, waitingMax: 64, waitMs: 10_000 },
  scan: { atOnce: 2, waitingMax: 32, waitMs: 10_000 },
}

/**
 * The nice value of a scan's threads, so that concurrent pages get the cores first. ClickHouse ignores it
 * without CAP_SYS_NICE. (ClickHouse now calls it os_threads_nice_value_query; every version accepts this
 * alias.)
 */
const scanNiceness = 19

/**
 * The most bytes, as ClickHouse counts them, of a result that this process parses. It has them several times: as text, as
 * rows and as the answer.
 */
const parsedBytesMax = 64 * 1024 ** 2

const busyRetrySeconds = 2

export const readLimitsOf = ({
  readSecondsMax,
  readMemoryBytesMax,
  scanThreads,
}: Pick<Config, 'readSecondsMax' | 'readMemoryBytesMax' | 'scanThreads'>): ReadLimits => ({
  secondsMax: readSecondsMax,
  memoryBytesMax: readMemoryBytesMax,
  scanThreads,
})

interface ReadFor {
  readonly organizationId: string
  readonly mode: 'live' | 'test'
  /** Callers with share links have limits of their own, so they never delay the organization's keys. */
  readonly caller?: { readonly kind: string }
}

export type OpenQueryExecutor = (readFor: ReadFor, by: ReadBy) => QueryExecutor

/** All routes of this process use one, so that they share the limits. */
export function createOpenQueryExecutor(
  clickhouse: Readonly<Record<ReadFor['mode'], ClickHouse>>,
  limits: ReadLimits,
): OpenQueryExecutor {
  const limiters = {
    page: new ConcurrencyLimiter(concurrencyLimits.page),
    scan: new ConcurrencyLimiter(concurrencyLimits.scan),
  }
  const shared = sharedCalls<unknown[]>()
  return ({ organizationId, mode, caller }, by) => {
    const owner = `${caller?.kind === 'share' ? 'share' : mode} ${organizationId}`
    const of = { limiter: limiters[by.effort], owner, shared }
    return openQueryExecutor(clickhouse[mode], of, by, limits)
  }
}

interface Shared {
  readonly limiter: ConcurrencyLimiter
  /** The organization, and the kind of its callers. */
  readonly owner: string
  readonly shared: SharedCalls<unknown[]>
}

/** How long a request's queries may run. */
interface Lifetime {
  readonly signal: AbortSignal
  secondsLeft: number
}

function openQueryExecutor(
  clickhouse: ClickHouse,
  { limiter, owner, shared }: Shared,
  by: ReadBy,
  limits: ReadLimits,
): QueryExecutor {
  const { signal, effort } = by
  const own: Lifetime = { signal, secondsLeft: limits.secondsMax }

  const stream = async (
    server: ClickHouse,
    query: Statement | ListQuery,
    format: OutputFormat,
    settings: Readonly<Record<string, number>> = {},
    lifetime = own,
  ): Promise<ResultStream> => {
    const { signal } = lifetime
    if (signal.aborted) throw new ClientDisconnected()
    if (!(await limiter.enter(owner, signal))) {
      if (signal.aborted) throw new ClientDisconnected()
      throw busy('This organization has too many requests in progress.', busyRetrySeconds)
    }
    const startedAt = performance.now()
    try {
      const answer = await server.stream(query, format, signal, {
        // A negative value would mean no limit.
        max_execution_time: Math.max(lifetime.secondsLeft, 0.1),
        max_memory_usage: limits.memoryBytesMax,
        ...(effort === 'scan' && {
          max_threads: limits.scanThreads,
          os_thread_priority: scanNiceness,
        }),
        ...settings,
      })
      signal.addEventListener('abort', () => answer.body.destroy(), { once: true })
      return answer
    } catch (error) {
      throw signal.aborted ? new ClientDisconnected() : toApiError(error, by, limits)
    } finally {
      lifetime.secondsLeft -= (performance.now() - startedAt) / 1000
      limiter.leave(owner)
    }
  }

  const rows = async <Row>(
    server: ClickHouse,
    query: Statement,
    lifetime: Lifetime,
  ): Promise<Row[]> => {
    const settings = { max_result_bytes: parsedBytesMax }
    const { body } = await stream(server, query, 'JSONEachRow', settings, lifetime)
    const lines = await text(body)
    return lines
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Row)
  }

  const through = (server: ClickHouse): QueryExecutor => ({
    clickhouse: server,
    signal,
    through,
    stream: (query, format) => stream(server, query, format),
    rows: (query) => rows(server, query, own),
    sharedRows: <Row>(query: Statement) =>
      shared(server, JSON.stringify([owner, query.sql, query.params]), () =>
        rows(server, query, {
          signal: new AbortController().signal,
          secondsLeft: limits.secondsMax,
        }),
      ) as Promise<Row[]>,
  })
  return through(clickhouse)
}

const overLimit = new Set([
  158, // TOO_MANY_ROWS
  159, // TIMEOUT_EXCEEDED
  160, // TOO_SLOW
  307, // TOO_MANY_BYTES
])

/** ClickHouse's code for a result above max_result_bytes. */
const resultTooLarge = 396 // TOO_MANY_ROWS_OR_BYTES

const overloaded = new Set([
  201, // QUOTA_EXCEEDED
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  203, // NO_FREE_CONNECTION
  394, // QUERY_WAS_CANCELLED
  439, // CANNOT_SCHEDULE_TASK
  745, // SERVER_OVERLOADED
])

const memoryLimitExceeded = 241

/** Whether ClickHouse did not read a query because of its length, the number of its values, or the length of one. */
const isTooLong = ({ code, message }: ClickHouseRefused): boolean =>
  (code === 1000 && message.includes('HTML Form Exception')) ||
  (code === 62 && message.includes('Max query size'))

function toApiError(error: unknown, { window }: ReadBy, { secondsMax }: ReadLimits): unknown {
  if (!(error instanceof ClickHouseRefused)) return error
  const { code, message } = error
  const isOwnMemory = code === memoryLimitExceeded && /query memory limit/i.test(message)
  if (overLimit.has(code))
    return queryTooHeavy(`it takes longer than ${secondsMax} seconds`, window)
  if (isOwnMemory) return queryTooHeavy('it needs more memory than one request may use', window)
  if (isTooLong(error)) return queryTooHeavy('its conditions are too many or too long')
  if (code === resultTooLarge) return queryTooHeavy('its answer is too large', window)
  if (overloaded.has(code) || code === memoryLimitExceeded)
    return busy(
      'The database is overloaded. Retry after the number of seconds in Retry-After.',
      busyRetrySeconds,
    )
  return error
}
