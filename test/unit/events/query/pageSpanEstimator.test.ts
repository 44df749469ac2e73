import { beforeEach, expect, test } from 'vitest'
import type { QueryExecutor } from '../../../../collector/api/access/queryExecutor.ts'
import type { EventsPlan } from '../../../../collector/events/query/page/eventsPlan.ts'
import {
  EventsQuery,
  parseEventsRequest,
} from '../../../../collector/events/query/page/parseEventsRequest.ts'
import { estimateSpan } from '../../../../collector/events/query/page/readPage.ts'
import { checkedQuery } from '../../../harness/checkedQuery.ts'

const now = 1_800_000_000_000
const ids = [1, 2, 3].map((last) => `00000000-0000-4000-8000-00000000000${last}`)
const [organizationId, one, another] = ids as [string, string, string]
const two = {
  organizationId,
  projectId: null,
  pixelId: null,
  campaignId: null,
  projectIds: [one, another],
}

let queryExecutor: QueryExecutor
beforeEach(() => {
  // Only tells whose stores they are.
  queryExecutor = { clickhouse: {} } as QueryExecutor
})

const planOf = (
  query: Record<string, string> = {},
  scope: EventsPlan['scope'] = two,
): EventsPlan => ({
  ...parseEventsRequest({ query: checkedQuery(EventsQuery, query) }, 'web_event', now, JSON.parse)
    .plan,
  scope,
})
const learn = (plan: EventsPlan, millis: number) =>
  estimateSpan(queryExecutor, plan).learn({ millis, eventId: one })

test('is what twice as many rows took in the page before, and a little more', () => {
  expect(estimateSpan(queryExecutor, planOf()).spanMs).toBeUndefined()
  learn(planOf(), now - 1_000)
  expect(estimateSpan(queryExecutor, planOf()).spanMs).toBe(3_000)
  expect(estimateSpan(queryExecutor, planOf({ order: 'asc', limit: '10' })).spanMs).toBe(1_200)
})

test('stays for who reads where rows lie far apart, and goes when it was too little', () => {
  learn(planOf(), now - 1_000)
  learn(planOf(), now - 100)
  expect(estimateSpan(queryExecutor, planOf()).spanMs).toBe(1_500)
  estimateSpan(queryExecutor, planOf()).forget()
  expect(estimateSpan(queryExecutor, planOf()).spanMs).toBeUndefined()
})

test('is not guessed from others, nor where no time is asked for', () => {
  learn(planOf(), now - 1_000)
  expect(
    estimateSpan(queryExecutor, planOf({}, { ...two, organizationId: another })).spanMs,
  ).toBeUndefined()
  expect(estimateSpan({ clickhouse: {} } as QueryExecutor, planOf()).spanMs).toBeUndefined()
  for (const plan of [
    planOf({}, { ...two, projectIds: [one] }),
    planOf({ order: 'received' }),
    planOf({ filter: 'event_type:eq:click' }),
    planOf({ distinct: 'cookie_id' }),
    // The rest of the window is not longer.
    planOf({ start_ms: String(now - 3_000) }),
  ])
    expect(estimateSpan(queryExecutor, plan).spanMs).toBeUndefined()
})
