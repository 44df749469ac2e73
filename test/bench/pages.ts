import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventsQuery } from '../../collector/events/query/page/eventsQuery.ts'
import {
  EventsQuery,
  parseEventsRequest,
} from '../../collector/events/query/page/parseEventsRequest.ts'
import type { Demo } from '../../collector/ops/demo/demo.ts'
import type { Tier } from '../../schemas/fields.ts'
import { checkedQuery } from '../harness/checkedQuery.ts'
import type { Service } from '../harness/service.ts'
import { record, replay, send, type Timed } from './recorded.ts'

export const pageRows = 1_000
export const hourMs = 3_600_000

export interface Store {
  url: string
  database: string
  postgresUrl: string
}

/** Addresses of the service's stores, as the service stores them for commands next to it. */
export function readStore({ dataDir }: Service): Store {
  const facts = JSON.parse(readFileSync(join(dataDir, 'stores.json'), 'utf8')) as Record<
    string,
    string
  >
  return {
    url: facts.clickhouse_url!,
    database: facts.clickhouse_database!,
    postgresUrl: facts.postgres_url!,
  }
}

const queryOf = (demo: Demo, endMs: number) => ({
  project_id: demo.project_id,
  start_ms: String(endMs - 24 * hourMs),
  end_ms: String(endMs),
  limit: String(pageRows),
})

/** A page of the tier, that of the 24 hours before `endMs`. */
export async function pageThroughApi(service: Service, tier: Tier, endMs: number): Promise<Timed> {
  const { api_key, api_secret } = service.demo
  const query = new URLSearchParams(queryOf(service.demo, endMs))
  const page = await send(new URL(`/api/v3/events/${tier}?${query}`, service.url), 'GET', {
    'x-api-key': api_key,
    'x-api-secret': api_secret,
  })
  const { meta } = JSON.parse(page.body.toString()) as { meta?: { records: number } }
  if (meta?.records !== pageRows) throw new Error(`a page has ${meta?.records} rows`)
  return page
}

/** The SQL of the same page at tier web_event, straight from ClickHouse. */
export async function pageDirectly(
  { url, database }: Store,
  demo: Demo,
  endMs: number,
): Promise<Timed> {
  const asked = { query: checkedQuery(EventsQuery, queryOf(demo, endMs)) }
  const { plan } = parseEventsRequest(asked, 'web_event', endMs, JSON.parse)
  const scope = {
    organizationId: demo.organization_id,
    projectId: demo.project_id,
    pixelId: null,
    campaignId: null,
  }
  const request = await record(url, database, (clickhouse) =>
    clickhouse.stream(eventsQuery({ ...plan, scope }), 'JSONEachRow'),
  )
  const page = await replay(url, request)
  const lines = page.body.toString().trimEnd().split('\n').length
  // One more than the page, by which the API knows that there are more.
  if (lines !== pageRows + 1) throw new Error(`ClickHouse answered ${lines} rows`)
  return page
}
