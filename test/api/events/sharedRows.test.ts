import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import {
  createOpenQueryExecutor,
  type OpenQueryExecutor,
} from '../../../collector/api/access/queryExecutor.ts'
import type { ClickHouse } from '../../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../../collector/platform/clickhouse/openClickHouse.ts'
import { organizationId } from './harness.ts'

/** Requests of an organization that run equal queries at once. */
let clickhouse: ClickHouse
let open: OpenQueryExecutor
const limits = { secondsMax: 30, memoryBytesMax: 1024 ** 3, scanThreads: 1 }

beforeAll(() => {
  clickhouse = openClickHouse(inject('clickhouseUrl'), 'default')
  open = createOpenQueryExecutor({ live: clickhouse, test: clickhouse }, limits)
})
afterAll(() => clickhouse.close())

const query = { sql: 'SELECT toString(generateUUIDv4()) AS id', params: {} }

interface Caller {
  readonly organizationId?: string
  readonly kind?: string
  readonly signal?: AbortSignal
}

const ask = ({ kind, signal = new AbortController().signal, ...of }: Caller = {}) =>
  open(
    { organizationId, mode: 'live', ...(kind && { caller: { kind } }), ...of },
    { effort: 'scan', signal },
  ).sharedRows<{ id: string }>(query)

test('they share the answer of the one that runs, and the next request has its own', async () => {
  const [[one], [other]] = await Promise.all([ask(), ask()])
  expect(other!.id).toBe(one!.id)
  const [next] = await ask()
  expect(next!.id).not.toBe(one!.id)
})

test('one that leaves takes nothing from the others', async () => {
  const leaves = new AbortController()
  const both = Promise.all([ask({ signal: leaves.signal }), ask()])
  leaves.abort()
  const [[one], [other]] = await both
  expect(other!.id).toBe(one!.id)
})

test('other organizations, and callers with share links, run queries of their own', async () => {
  const answers = await Promise.all([
    ask(),
    ask({ kind: 'share' }),
    ask({ organizationId: '6c0e0000-0000-4000-8000-000000000002' }),
  ])
  expect(new Set(answers.map(([row]) => row!.id)).size).toBe(3)
})

test('other values of the same query have an answer of their own', async () => {
  const { sharedRows } = open(
    { organizationId, mode: 'live' },
    { effort: 'scan', signal: new AbortController().signal },
  )
  const of = (day: number) =>
    sharedRows<{ day: number }>({ sql: 'SELECT {day:UInt32} AS day', params: { day } })
  expect(await Promise.all([of(1), of(2)])).toMatchObject([[{ day: 1 }], [{ day: 2 }]])
})
