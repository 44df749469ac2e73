import { randomUUID } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Tier } from '../../schemas/fields.ts'
import { ConcurrencyLimiter } from '../api/access/concurrencyLimiter.ts'
import type { QueryExecutor } from '../api/access/queryExecutor.ts'
import type { ListCursors } from '../api/http/cursors.ts'
import { busy, ClientDisconnected, invalidParameter } from '../api/http/errors.ts'
import { contentTypeOf, type Format, formats } from '../api/http/negotiateFormat.ts'
import { streamOf, untilClosed } from '../api/http/streaming.ts'
import type { Caller } from '../billing/admission.ts'
import {
  type AdmittedRequest,
  admit,
  admitFurther,
  callerOf,
  type Settled,
  settle,
  settleFurther,
} from '../billing/chargedRequest.ts'
import type { Meter } from '../billing/meters.ts'
import { metaOf } from './pageMeta.ts'
import type { Cursor } from './query/cursor.ts'
import type { GatheredPage } from './query/pageSplitter.ts'
import type { EventsQuery } from './query/parseEventsRequest.ts'
import type { ReadDeps } from './query/readDeps.ts'
import { readEventHashes } from './query/readPage.ts'
import { cursorPast, pagesRefusal, type ReadPage, readPages } from './query/readPages.ts'
import type { EventsPlan } from './query/selection.ts'
import { jsonRows } from './query/sendRows.ts'

/** An answer holds two pages in memory, so an organization has few of them at once in a process. */
const limits = { atOnce: 2, waitingMax: 8, waitMs: 10_000 }
const retrySeconds = 5

interface PagesRequest {
  readonly tier: Tier
  readonly meter: Meter
  /** The plan of the first page. */
  readonly plan: EventsPlan
  /** The parameters of the request; `pages` is above 1. */
  readonly query: EventsQuery
}

/** A page whose records are charged. */
interface ChargedPage {
  readonly page: GatheredPage
  readonly settled: Settled
  readonly hasMore: boolean
  /** The cursor of the next page; null on the last one. */
  readonly next: string | null
  readonly requestId: string
}

/**
 * Creates the function that sends several pages in one answer, each as a line. A page is complete in memory before it is
 * charged, and charged before its first byte. If a later page cannot be read or charged, the answer ends after the
 * page before. Each page has a next_cursor, with which another request continues.
 */
export function createSendPages(deps: ReadDeps, cursors: ListCursors<Cursor>) {
  const limiter = new ConcurrencyLimiter(limits)

  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    { tier, meter, plan: asked, query }: PagesRequest,
  ): Promise<Readable> => {
    const { pages = 1, cursor: firstCursor = null } = query
    const { principal } = request
    const { organizationId } = principal
    const owner = `${principal.mode} ${organizationId}`
    const signal = untilClosed(reply)
    if (!(await limiter.enter(owner, signal)))
      throw busy(
        'This organization has too many answers of several pages in progress.',
        retrySeconds,
      )
    const leave = () => limiter.leave(owner)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })

    const usage = { meter, projectId: asked.scope.projectId, recordsMax: asked.limit }
    const caller = callerOfPage(request, query, request.id, firstCursor)
    const admitted = await admit(deps.billing, request, reply, usage, caller)
    const plan = { ...asked, window: admitted.repeatedWindow ?? asked.window }
    const executor = deps.openQueryExecutor(principal, {
      effort: 'page',
      signal,
      window: plan.window,
    })
    const charged = new ChargedPages({
      admitted,
      plan,
      query,
      executor,
      read: readPages(executor, plan, pages, admitted),
      writeCursor: (cursor) => cursors.write(organizationId, cursor),
    })
    const first = await charged.first()
    reply.header('content-type', contentTypeOf('ndjson')).header('vary', 'accept')
    return streamOf(linesOf(first, charged, { tier, meter, plan, pages }))
  }
}

interface ChargedPagesOptions extends Pick<PagesRequest, 'plan' | 'query'> {
  /** The admission of the first page. */
  readonly admitted: AdmittedRequest
  readonly executor: QueryExecutor
  readonly read: AsyncGenerator<ReadPage>
  writeCursor(cursor: Cursor): string
}

/** The pages of an answer. Each is charged as it is taken. */
class ChargedPages {
  readonly #options: ChargedPagesOptions
  /** The place from which the next page is read. */
  #cursor: EventsPlan['cursor']

  constructor(options: ChargedPagesOptions) {
    this.#options = options
    this.#cursor = options.plan.cursor
  }

  /** Charges the first page, and sets the headers of its charge. Throws like `settle`. */
  first(): Promise<ChargedPage> {
    const { admitted } = this.#options
    return this.#next(admitted, settle, admitted.request.id)
  }

  /** Charges the page after `before`, its cursor. Null if it cannot be read or charged; then nothing is charged. */
  async further(before: string): Promise<ChargedPage | null> {
    const { admitted, query } = this.#options
    const { request } = admitted
    const requestId = randomUUID()
    let admittedPage: AdmittedRequest | null = null
    try {
      const caller = callerOfPage(request, query, requestId, before)
      admittedPage = await admitFurther(admitted, caller)
      return await this.#next(admittedPage, settleFurther, requestId)
    } catch (error) {
      if (error instanceof ClientDisconnected) throw error
      await admittedPage?.charge.refund()
      request.log.warn({ error: (error as Error).message }, 'an answer ends before its last page')
      return null
    }
  }

  async #next(
    admitted: AdmittedRequest,
    charge: typeof settle,
    requestId: string,
  ): Promise<ChargedPage> {
    const { plan, executor, read, writeCursor } = this.#options
    const { value: page, done } = await read.next()
    if (done) throw new Error('ClickHouse returned fewer pages than it announced')
    // A page of large events has fewer rows than the limit.
    const planOfPage = { ...plan, cursor: this.#cursor, limit: Math.max(1, page.records) }
    const settled = await charge(admitted, {
      records: page.records,
      window: plan.window,
      hashes: () => page.hashes ?? readEventHashes(executor, planOfPage),
      rows: deliveries(page),
    })
    const { hasMore } = page
    this.#cursor = hasMore ? cursorPast(plan, page) : null
    const next = this.#cursor && writeCursor(this.#cursor)
    return { page, settled, hasMore, next, requestId }
  }
}

/** The pages as lines of JSON, each as in a JSON answer. */
async function* linesOf(
  first: ChargedPage,
  charged: ChargedPages,
  { tier, meter, plan, pages }: Pick<PagesRequest, 'tier' | 'meter' | 'plan'> & { pages: number },
) {
  let sent: ChargedPage | null = first
  for (let count = 1; sent; count++) {
    const { page, settled, hasMore, next, requestId }: ChargedPage = sent
    const meta = {
      tier,
      meter,
      records: page.records,
      charged: settled.charged,
      hasMore,
      cursor: next,
      requestId,
    }
    yield* jsonRows('rows', settled.rows, () => ({ meta: metaOf(plan, meta) }))
    yield '\n'
    sent = next === null || count === pages ? null : await charged.further(next)
  }
}

/** Throws 400 if a plan cannot be answered with several pages in this format. */
export function requireSeveral(format: Format, plan: Pick<EventsPlan, 'order' | 'columns'>): void {
  if (format !== 'json' && format !== 'ndjson')
    throw invalidParameter('pages', `must be 1 with Accept: ${formats[format]}`)
  const refusal = pagesRefusal(plan)
  if (refusal) throw invalidParameter(refusal.parameter, refusal.message)
}

async function* deliveries({ rows }: GatheredPage) {
  yield* rows
}

/**
 * Who is charged for a page. Its repeat has the same Idempotency-Key, parameters and cursor, and any number of pages.
 * So the pages of a broken answer stay free.
 */
function callerOfPage(
  request: FastifyRequest,
  { pages: _, ...query }: EventsQuery,
  requestId: string,
  cursor: string | null,
): Caller {
  const caller = callerOf(request)
  const [key] = caller.repeatOf ?? []
  const facts = Object.entries({ ...query, cursor }).toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  )
  const repeatOf =
    key === undefined ? null : [key, request.routeOptions.url, facts, caller.projectId]
  return { ...caller, requestId, repeatOf }
}
