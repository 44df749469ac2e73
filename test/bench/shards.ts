import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { eventsQuery } from '../../collector/events/query/page/eventsQuery.ts'
import {
  EventsQuery,
  parseEventsRequest,
} from '../../collector/events/query/page/parseEventsRequest.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openDatabase } from '../../collector/platform/clickhouse/cluster.ts'
import { startLocalClickHouse } from '../../collector/platform/clickhouse/local.ts'
import { migrateClickHouse } from '../../collector/platform/clickhouse/migrate.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { shardOf } from '../../collector/platform/clickhouse/shards.ts'
import { checkedQuery } from '../harness/checkedQuery.ts'
import { startShards } from '../harness/shards.ts'
import { makeEvents } from './events.ts'
import { hourMs, pageRows } from './pages.ts'
import type { Bench, Row } from './rows.ts'
import { interleave } from './stats.ts'

const database = 'footfall'
const rows = 1_000_000
const spanMs = 30 * 24 * hourMs
const pagesPerRepeat = 15
const warmUpPages = 10

/** A page of a project whose events are on another shard than the one that is queried, and on one server alone. */
export async function shards({ log, repeats }: Bench): Promise<Row> {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-bench-shards-'))
  const newestMs = Date.now()
  const alone = await startLocalClickHouse(join(directory, 'alone'), log)
  const cluster = await startShards(directory, 2, { onRestart: log })
  const one = openClickHouse(alone.url, database)
  const two = openDatabase(cluster.cluster, database)
  try {
    await migrateClickHouse(alone.url, database)
    await migrateClickHouse(cluster.cluster, database)
    const place = {
      organization_id: randomUUID(),
      project_id: projectOn(1),
      pixel_id: randomUUID(),
    }
    log(`making ${rows} events, twice`)
    const made = { rows, newestMs, spanMs, cookie: 'cityHash64(number) % 50000' }
    await makeEvents({ url: alone.url, database }, place, made)
    await makeEvents({ url: cluster.servers[1]!.url, database }, place, {
      ...made,
      table: 'events_local',
    })
    const page = (from: ClickHouse) =>
      readPage(from, place, newestMs - Math.random() * (spanMs - 24 * hourMs))
    for (let n = 0; n < warmUpPages; n++) await Promise.all([page(one), page(two)])
    const { a, b, ratio } = await interleave(
      repeats * pagesPerRepeat,
      () => page(two),
      () => page(one),
    )
    return {
      what: 'a page of a project on two shards ÷ on one, SQL, p50',
      value: ratio.toFixed(2),
      target: '≤ 2',
      detail: `${a.toFixed(1)} ÷ ${b.toFixed(1)} ms, pages of ${pageRows} of ${rows} events, on the shard that is not asked first`,
    }
  } finally {
    await Promise.all([one.close(), two.close()])
    await Promise.all([alone.stop(), cluster.stop()])
    rmSync(directory, { recursive: true, force: true })
  }
}

interface Place {
  organization_id: string
  project_id: string
  pixel_id: string
}

/** A project whose events are on this shard of two, from 0. */
function projectOn(shard: number): string {
  let projectId: string = randomUUID()
  while (shardOf(projectId, 2) !== shard) projectId = randomUUID()
  return projectId
}

/** Milliseconds for a page of the 24 hours before `endMs`. */
async function readPage(clickhouse: ClickHouse, place: Place, endMs: number): Promise<number> {
  const window = {
    start_ms: String(Math.floor(endMs - 24 * hourMs)),
    end_ms: String(Math.floor(endMs)),
  }
  const asked = { query: checkedQuery(EventsQuery, { ...window, limit: String(pageRows) }) }
  const { plan } = parseEventsRequest(asked, 'web_event', endMs, JSON.parse)
  const scope = {
    organizationId: place.organization_id,
    projectId: place.project_id,
    pixelId: place.pixel_id,
    campaignId: null,
  }
  const startedAt = performance.now()
  const { body } = await clickhouse.stream(eventsQuery({ ...plan, scope }), 'JSONEachRow')
  const lines = (await text(body)).trimEnd().split('\n').length
  const ms = performance.now() - startedAt
  if (lines !== pageRows + 1) throw new Error(`ClickHouse answered ${lines} rows`)
  return ms
}
