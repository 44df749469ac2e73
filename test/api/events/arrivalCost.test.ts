import { text } from 'node:stream/consumers'
import { expect, inject, test } from 'vitest'
import type { Filter } from '../../../collector/events/query/filter/filter.ts'
import { keyColumns } from '../../../collector/events/query/order.ts'
import type { EventsPlan } from '../../../collector/events/query/page/eventsPlan.ts'
import { eventsQuery } from '../../../collector/events/query/page/eventsQuery.ts'
import { openClickHouse } from '../../../collector/platform/clickhouse/openClickHouse.ts'
import { fieldNamed } from '../../../schemas/fields.ts'
import { newClickHouseDatabase } from '../../harness/databases.ts'

const organizationId = '00000000-0000-0000-0000-000000000001'
const projectId = '00000000-0000-0000-0000-00000000000a'
const firstMs = 1_760_000_000_000
const total = 400_000
const everyMs = 500

/** Events of two days and more; one of a hundred was on its way for up to two hours. */
const insert = `INSERT INTO events (organization_id, project_id, event_id, event_type, ts_millis, received_at)
  SELECT '${organizationId}', '${projectId}', generateUUIDv4(number), ['click', 'copy'][number % 50 = 0 ? 2 : 1],
    ${firstMs} + number * ${everyMs} AS millis,
    fromUnixTimestamp64Milli(toInt64(millis + if(number % 100 = 7, sipHash64(number) % 7200000, 300)), 'UTC')
  FROM numbers(${total})`

const copies: Filter = { field: fieldNamed('event_type')!, op: 'eq', as: 'text', value: 'copy' }

const planOf = (more: Partial<EventsPlan>): EventsPlan => ({
  scope: { organizationId, projectId, pixelId: null, campaignId: null },
  source: null,
  window: { startMs: firstMs, endMs: firstMs + total * everyMs * 2 },
  filters: [],
  columns: ['received_at', 'event_id', 'event_type'].map((name) => fieldNamed(name)!),
  hasAllColumns: false,
  order: 'received',
  limit: 100,
  offset: 0,
  distinct: [],
  cursor: null,
  ...more,
})

test('a page in the order of arrival reads about as much whether little remains or much', async () => {
  const database = await newClickHouseDatabase()
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  await clickhouse.command({ sql: insert, params: {} })

  /** The rows of a page, and how many ClickHouse read for it. */
  const read = async (plan: EventsPlan) => {
    const { sql, params } = eventsQuery(plan)
    const url = new URL(inject('clickhouseUrl'))
    const authorization = `Basic ${Buffer.from(`${url.username}:${url.password}`).toString('base64')}`
    ;[url.username, url.password] = ['', '']
    url.search = String(
      new URLSearchParams({
        database,
        wait_end_of_query: '1',
        default_format: 'TSV',
        ...Object.fromEntries(
          Object.entries(params).map(([name, value]) => [`param_${name}`, String(value)]),
        ),
      }),
    )
    const answer = await fetch(url, { method: 'POST', headers: { authorization }, body: sql })
    const rows = await answer.text()
    expect(answer.status, rows).toBe(200)
    return {
      rows,
      readRows: Number(JSON.parse(answer.headers.get('x-clickhouse-summary')!).read_rows),
    }
  }
  /** The same rows, the simple way. */
  const expected = async ({ limit, filters, cursor }: EventsPlan) => {
    const { body } = await clickhouse.stream(
      {
        sql: `SELECT received_at, event_id, event_type FROM events
              WHERE toUnixTimestamp64Milli(received_at) >= ${cursor?.from.millis ?? 0}
                ${filters.length > 0 ? "AND event_type = 'copy'" : ''}
              ORDER BY ${keyColumns('received').join(', ')} LIMIT ${limit + 1}
              SETTINGS date_time_output_format = 'simple', use_skip_indexes = 0, use_top_k_dynamic_filtering = 0`,
        params: {},
      },
      'TSV' as 'JSONEachRow',
    )
    return text(body)
  }

  for (const { limit, filters } of [
    { limit: 100, filters: [] },
    { limit: 5_000, filters: [] },
    { limit: 100, filters: [copies] },
  ]) {
    const readRows: number[] = []
    for (const passed of [0, 0.5, 0.95]) {
      const millis = firstMs + total * everyMs * passed
      const from = { millis, eventId: '00000000-0000-0000-0000-000000000000' }
      const plan = planOf({
        limit,
        filters,
        ...(passed > 0 && { cursor: { from } as EventsPlan['cursor'] }),
      })
      const page = await read(plan)
      expect(page.rows.split('\n').length).toBe(limit + 2)
      expect(page.rows).toBe(await expected(plan))
      readRows.push(page.readRows)
    }
    const what = `${limit} of ${filters.length === 0 ? 'all' : 'some'}: ${readRows} rows read`
    expect(Math.max(...readRows), what).toBeLessThan(total / 2)
  }
  await clickhouse.close()
})
