/** Pages as Arrow and Parquet, read by what nobody here wrote. */
import { randomUUID } from 'node:crypto'
import { tableFromIPC } from 'apache-arrow'
import type { InjectOptions } from 'fastify'
import { parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { profileAt } from '../../../collector/identity/generate/index.ts'
import { openDatabases } from '../../../collector/platform/clickhouse/cluster.ts'
import { type DataType, fieldNamed, fieldsAt, type Tier, tiers } from '../../../schemas/fields.ts'
import { newClickHouseDatabase } from '../../harness/databases.ts'
import { eventOf, linkOf, openEvents, type Row } from './harness.ts'

let events: Awaited<ReturnType<typeof openEvents>>
const now = Date.now()
const ada = profileAt({ seed: 3, companies: 5 }, 0)
const cookies = Array.from({ length: 5 }, () => randomUUID())
/** Sixty events at only five instants, so that pages end between events of the same millisecond. */
const stored = Array.from({ length: 60 }, (_, index) =>
  eventOf(now, 60_000 + (index % 5) * 1000, {
    cookie_id: cookies[Math.floor(index / 12)],
    page_url: index % 7 === 0 ? null : `line one\n"quoted", ${'é😀'.repeat(index)}`,
    event_data: `{"n":${index}}`,
    screen_width: index % 2 === 0 ? 1920 : null,
    spend: index % 3 === 0 ? 0.0025 : null,
  }),
)
/** Called before a table is asked of ClickHouse. */
let beforeTable = async (): Promise<void> => {}

beforeAll(async () => {
  const on = openDatabases(inject('clickhouseUrl'), await newClickHouseDatabase())
  const { live } = on
  events = await openEvents({
    on,
    readsFrom: {
      ...live,
      async stream(query, format, ...more) {
        if (format === 'ArrowStream' || format === 'Parquet') await beforeTable()
        return live.stream(query, format, ...more)
      },
    },
  })
  await events.insert(stored)
  await events.know({ links: [linkOf(cookies[0], ada.hem as string)], profiles: [ada] })
})
afterAll(() => events.close())

interface TableRead {
  rows: Row[]
  /** Each column's name, type and whether it may be null, in order. */
  columns: { name: string; type: DataType; nullable: boolean }[]
}

const arrowTypes: Record<string, DataType> = {
  Utf8: 'Utf8',
  Int64: 'Int64',
  Float64: 'Float64',
  Bool: 'Boolean',
  'Timestamp<MILLISECOND, UTC>': 'Timestamp',
}

function readArrow(bytes: Buffer): TableRead {
  const table = tableFromIPC(bytes)
  const columns = table.schema.fields.map(({ name, type, nullable }) => ({
    name,
    nullable,
    type: arrowTypes[String(type)] ?? (String(type) as DataType),
  }))
  const rows = Array.from({ length: table.numRows }, (_, at) => {
    const row = table.get(at)!
    return Object.fromEntries(columns.map(({ name, type }) => [name, asInJson(row[name], type)]))
  })
  return { rows, columns }
}

async function readParquet(bytes: Buffer): Promise<TableRead> {
  const file = new Uint8Array(bytes).buffer
  const { children } = parquetSchema(parquetMetadata(file))
  const columns = children.map(({ element }) => {
    const kind = element.logical_type?.type ?? element.converted_type ?? element.type
    const type = {
      STRING: 'Utf8',
      UTF8: 'Utf8',
      INT64: 'Int64',
      INT_64: 'Int64',
      INTEGER: 'Int64',
      DOUBLE: 'Float64',
      BOOLEAN: 'Boolean',
      TIMESTAMP: 'Timestamp',
    }[String(kind)]
    return {
      name: element.name,
      type: (type ?? kind) as DataType,
      nullable: element.repetition_type === 'OPTIONAL',
    }
  })
  const objects = (await parquetReadObjects({ file })) as Row[]
  const rows = objects.map((row) =>
    Object.fromEntries(columns.map(({ name, type }) => [name, asInJson(row[name], type)])),
  )
  return { rows, columns }
}

/** A value as JSON has it. */
function asInJson(value: unknown, type: DataType): unknown {
  if (value === null || value === undefined) return null
  if (type === 'Int64') return Number(value)
  if (type === 'Timestamp') return new Date(Number(value)).toISOString()
  return value
}

const forms = [
  ['application/vnd.apache.arrow.stream', readArrow],
  ['application/vnd.apache.parquet', readParquet],
] as const

describe.each(forms)('%s', (accept, read) => {
  const get = (
    query: Record<string, string> = {},
    tier: Tier = 'web_event',
    headers: InjectOptions['headers'] = {},
  ) => events.get(`events/${tier}`, query, { accept, ...headers })
  const rowsOf = async (query: Record<string, string> = {}, tier: Tier = 'web_event') => {
    const answer = await get(query, tier)
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
    return { ...(await read(answer.rawPayload)), headers: answer.headers }
  }
  const window = { start_ms: String(now - 120_000), end_ms: String(now - 30_000) }
  /** Every page, by the cursors of the headers. */
  async function follow(query: Record<string, string>): Promise<Row[][]> {
    const pages: Row[][] = []
    let cursor: string | undefined
    do {
      const { rows, headers } = await rowsOf({ ...query, ...(cursor && { cursor }) })
      cursor = headers['x-footfall-next-cursor'] as string | undefined
      expect(headers['x-footfall-records']).toBe(String(rows.length))
      expect(headers['x-footfall-charged']).toBe(String(rows.length))
      expect(headers['x-footfall-has-more']).toBe(String(cursor !== undefined))
      pages.push(rows)
    } while (cursor)
    return pages
  }

  test.each(tiers)(
    'at %s has the rows of JSON, in columns of the types that the schema tells',
    async (tier) => {
      const { rows, columns, headers } = await rowsOf({ ...window, limit: '100' }, tier)
      expect(headers['content-type']).toBe(accept)
      expect(columns).toEqual(
        fieldsAt(tier).map(({ name, dataType, nullable }) => ({ name, type: dataType, nullable })),
      )
      const json = await events.page({ ...window, limit: '100' }, {}, tier)
      const nothing = Object.fromEntries(fieldsAt(tier).map(({ name }) => [name, null]))
      expect(rows).toEqual(json.rows.map((row) => ({ ...nothing, ...row })))
      expect(rows.some(({ resolved }) => resolved)).toBe(true)
    },
  )

  test('has the columns that select names, in its order', async () => {
    const select = 'page_url,is_entry,session_id,email,hem,event_id,email_verified_at,ts_millis'
    const tier = 'resolution_full_profile'
    const { rows, columns } = await rowsOf({ ...window, select }, tier)
    expect(columns.map(({ name }) => name)).toEqual(select.split(','))
    expect(columns.map(({ type }) => type)).toEqual(
      select.split(',').map((name) => fieldNamed(name)!.dataType),
    )
    expect(rows).toEqual((await events.page({ ...window, select }, {}, tier)).rows)
  })

  test('is read to its end by the cursors of the headers, each event once', async () => {
    const { rows: whole } = await events.page({ limit: '1000', ...window })
    for (const limit of ['7', '59', '60']) {
      const pages = await follow({ limit, ...window })
      expect(pages.flat()).toEqual(whole)
      expect(pages).toHaveLength(Math.ceil(60 / Number(limit)))
    }
    const selected = { ...window, select: 'event_data,page_url' }
    for (const more of [
      { order: 'asc' },
      { distinct: 'cookie_id' },
      { filter: 'event_data.n:gte:30' },
    ])
      expect((await follow({ limit: '7', ...selected, ...more })).flat()).toEqual(
        (await events.page({ limit: '1000', ...selected, ...more })).rows,
      )
  })

  test('without rows is a table without rows, and free', async () => {
    const { rows, columns, headers } = await rowsOf({
      start_ms: '1',
      end_ms: '2',
      select: 'event_id,page_url',
    })
    expect([rows, columns.map(({ name }) => name)]).toEqual([[], ['event_id', 'page_url']])
    expect(headers['x-footfall-charged']).toBe('0')
  })

  test('passes over nothing that arrives while it is asked for', async () => {
    const cookie_id = randomUUID()
    const late = {
      start_ms: String(now - 900_000),
      end_ms: String(now - 600_000),
      filter: `cookie_id:eq:${cookie_id}`,
    }
    const older = Array.from({ length: 8 }, (_, n) =>
      eventOf(now, 700_000 + n * 1000, { cookie_id }),
    )
    await events.insert(older)
    const ids = new Set(older.map(({ event_id }) => event_id))
    let toCome = 3
    beforeTable = async () => {
      if (toCome-- <= 0) return
      const newer = Array.from({ length: 3 }, (_, n) =>
        eventOf(now, 650_000 - toCome * 1000 - n, { cookie_id }),
      )
      for (const { event_id } of newer) ids.add(event_id)
      await events.insert(newer)
    }
    const first = await rowsOf({ ...late, limit: '4' })
    beforeTable = async () => {}
    expect(first.rows.length).toBeLessThanOrEqual(4)
    const seen = new Set(first.rows.map(({ event_id }) => event_id))
    const cursor = String(first.headers['x-footfall-next-cursor'])
    const rest = (await rowsOf({ cursor, filter: late.filter, limit: '100' })).rows
    for (const { event_id } of rest) expect(seen.has(event_id)).toBe(false)
    // All rows older than the end of the first page, and its rows among the newer ones.
    const all = (await events.page({ ...late, limit: '100' })).rows
    expect(all).toHaveLength(ids.size)
    expect([...first.rows, ...rest]).toEqual(all)
  })

  test('a repeat with the same Idempotency-Key is free', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const query = { ...window, limit: '10' }
    const charged = async () =>
      (await get(query, 'web_event', headers)).headers['x-footfall-charged']
    expect([await charged(), await charged()]).toEqual(['10', '0'])
  })
})

test.each([
  [
    'application/vnd.apache.arrow.stream;q=0.5, application/json',
    'application/json; charset=utf-8',
  ],
  [
    'application/vnd.apache.arrow.stream, application/json;q=0.5',
    'application/vnd.apache.arrow.stream',
  ],
  ['application/vnd.apache.parquet, */*;q=0.1', 'application/vnd.apache.parquet'],
  ['application/*', 'application/json; charset=utf-8'],
])('Accept: %s gets %s', async (accept, type) => {
  const answer = await events.get('events/web_event', { limit: '1' }, { accept })
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, type])
})
