import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { QueryExecutor } from '../../../collector/api/access/queryExecutor.ts'
import { createOpenQueryExecutor } from '../../../collector/api/access/queryExecutor.ts'
import type { Format } from '../../../collector/api/http/negotiateFormat.ts'
import type { AdmittedRequest } from '../../../collector/billing/chargedRequest.ts'
import type { EventsPlan } from '../../../collector/events/query/page/eventsPlan.ts'
import {
  EventsQuery,
  parseEventsRequest,
} from '../../../collector/events/query/page/parseEventsRequest.ts'
import { readEventHashes, readPage } from '../../../collector/events/query/page/readPage.ts'
import { readVisitors } from '../../../collector/events/visitors/visitors.ts'
import {
  readVisitorsRequest,
  VisitorsQuery,
} from '../../../collector/events/visitors/visitorsRequest.ts'
import type { Query } from '../../../collector/platform/clickhouse/client.ts'
import { checkedQuery } from '../../harness/checkedQuery.ts'
import {
  eventOf,
  linkOf,
  openEvents,
  organizationId,
  pixelId,
  projectId,
  type Row,
} from './harness.ts'

/**
 * A browser is linked to somebody else while a request with Idempotency-Key is read. Its rows must not show one person
 * and its charge name the other, because the repeat of a charge is free.
 */
let events: Awaited<ReturnType<typeof openEvents>>
beforeAll(async () => {
  events = await openEvents()
})
afterAll(() => events.close())

const now = Date.now()
const repeatable = { charge: { isRepeatable: true } } as AdmittedRequest
const scope = { organizationId, projectId, pixelId: null, campaignId: null }
const [one, other] = ['1'.repeat(64), '2'.repeat(64)]
let cookie_id: string
let linked: string
let linkedAt = now

/** Links the browser to a person, later than all links before. */
async function link(hem: string): Promise<void> {
  linked = hem
  linkedAt += 1_000
  await events.know({
    links: [linkOf(cookie_id, hem, { observed_at: new Date(linkedAt).toISOString() })],
  })
}

let window: Record<string, string>
beforeEach(async () => {
  cookie_id = randomUUID()
  const startMs = now - Math.floor(Math.random() * 1e9) - 1e7
  window = { project_id: projectId, start_ms: String(startMs), end_ms: String(startMs + 10_000) }
  await events.insert(
    [1_000, 2_000, 3_000].map((at) => eventOf(startMs + at, 0, { cookie_id, pixel_id: pixelId })),
  )
  await link(one)
})

const open = () =>
  createOpenQueryExecutor(events.clickhouse, {
    secondsMax: 30,
    memoryBytesMax: 4e9,
    scanThreads: 1,
  })({ organizationId, mode: 'live' }, { effort: 'page', signal: new AbortController().signal })

/** An executor that links the browser to the other person after each of the first `changes` reads of rows or records. */
function changing(changes: number): QueryExecutor {
  const executor = open()
  let left = changes
  const change = async () => {
    if (left-- > 0) await link(linked === one ? other : one)
  }
  return {
    ...executor,
    async rows<Found>(query: Query): Promise<Found[]> {
      const found = await executor.rows<Found>(query)
      if (query.sql.includes('AS hashes')) await change()
      return found
    },
    async stream(query, format) {
      const stream = await executor.stream(query, format)
      await change()
      return stream
    },
  }
}

const planOf = (query: Record<string, string>): EventsPlan => ({
  ...parseEventsRequest(
    { query: checkedQuery(EventsQuery, { ...window, order: 'asc', ...query }) },
    'resolution_full_profile',
    now,
    JSON.parse,
  ).plan,
  scope,
})
const select = 'event_id,ts_millis,hem'

async function bytesOf(rows: AsyncIterable<{ bytes: Uint8Array }>): Promise<string> {
  const parts: Buffer[] = []
  for await (const { bytes } of rows) parts.push(Buffer.from(bytes))
  return text(Readable.from(parts))
}
const peopleIn = (answer: string) => [one, other].filter((hem) => answer.includes(hem))

/** The hashes of the events now, which is when the browser is linked to the person of the rows. */
const hashesNow = (plan: EventsPlan) => readEventHashes(open(), plan)

test.each<[Format, Row]>([
  ['json', { select }],
  ['json', {}],
  ['ndjson', { select: 'hem,event_id' }],
  ['csv', { select }],
  ['arrow', { select }],
  ['json', { select, limit: '2' }],
])('%s of %o: rows and charge are of the same people', async (format, query) => {
  const plan = planOf(query as Record<string, string>)
  const page = await readPage(changing(2), plan, format, repeatable)
  const answer = await bytesOf(page.rows!)
  expect(page.records).toBe('limit' in query ? 2 : 3)
  expect(page.hasMore).toBe('limit' in query)
  // Links changed to the other person, and back.
  if (format !== 'arrow') expect(peopleIn(answer)).toEqual([one])
  expect(await page.hashes()).toEqual(await hashesNow(plan))
})

test('a request is busy if people change at every try', async () => {
  const reading = readPage(changing(1_000), planOf({ select }), 'json', repeatable)
  await expect(reading).rejects.toMatchObject({ status: 503, error: 'busy' })
})

test('visitors: rows and charge are of the same people', async () => {
  const { plan: asked } = readVisitorsRequest(
    { query: checkedQuery(VisitorsQuery, { ...window, limit: '10', select: 'hem,event_id' }) },
    'resolution_full_profile',
  )
  const plan = { ...asked, scope }
  const page = await readVisitors(changing(2), plan, 'json', repeatable)
  expect(peopleIn(await bytesOf(page.rows))).toEqual([one])
  expect(await page.hashes!()).toHaveLength(1)
})

test('an event that arrives between both is not in the page', async () => {
  const executor = open()
  const plan = planOf({ select })
  const late: QueryExecutor = {
    ...executor,
    async rows<Found>(query: Query): Promise<Found[]> {
      const found = await executor.rows<Found>(query)
      if (query.sql.includes('AS hashes'))
        await events.insert([eventOf(Number(window.start_ms) + 1_500, 0, { cookie_id })])
      return found
    },
  }
  const page = await readPage(late, plan, 'json', repeatable)
  await bytesOf(page.rows!)
  expect(page.records).toBe(3)
  expect(await page.hashes()).toHaveLength(3)
})
