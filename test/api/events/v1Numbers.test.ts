/**
 * Random filters of events: the free counts of version 1 are the events that a live read charges.
 * `FREE_NUMBERS_RUNS` and `FREE_NUMBERS_SEED` set the number of random filters and their seed.
 */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { reloadIdentity } from '../../../collector/identity/store/refresh.ts'
import type { Random } from '../../../collector/platform/seededRandom.ts'
import { type DataType, type Field, fields } from '../../../schemas/fields.ts'
import { storeProject } from '../../harness/owners.ts'
import { insertRows } from '../../harness/rows.ts'
import { goOn, type History, newHistory } from '../audiences/histories.ts'
import { openEvents, type Row } from './harness.ts'

const runs = Number(process.env.FREE_NUMBERS_RUNS ?? 12)
const seed = Number(process.env.FREE_NUMBERS_SEED ?? 1)
const hourMs = 3_600_000
let events: Awaited<ReturnType<typeof openEvents>>
let history: History

beforeAll(async () => {
  events = await openEvents()
  history = newHistory(seed, false)
  const { organizationId } = history.world
  await events.postgres.query(
    `WITH organization AS (INSERT INTO organizations (organization_id, name) VALUES ($1, 'R') RETURNING organization_id)
     INSERT INTO billing_accounts (organization_id, free_answers_per_day) SELECT organization_id, 1000000 FROM organization`,
    [organizationId],
  )
  await storeProject(events.postgres, history.projectId, organizationId, 'R')
  for (let step = 0; step < 30; step++)
    for (const [table, rows] of Object.entries(goOn(history)))
      await insertRows(events.clickhouse.live, table, rows)
  await reloadIdentity(events.clickhouse.live)
})
afterAll(() => events.close())

async function ask(path: string, query: Record<string, string>) {
  const all = { project_id: history.projectId, ...query }
  const answer = await events.app.inject({
    url: `/api/v1/${path}?${new URLSearchParams(all)}`,
    headers: { 'x-organization': history.world.organizationId },
  })
  const body = answer.json()
  expect([query, answer.statusCode, body.message]).toEqual([query, 200, undefined])
  return body
}

const operatorsOf: Record<DataType, string[]> = {
  Utf8: ['eq', 'ne', 'in', 'like', 'lt', 'gte'],
  Int64: ['eq', 'ne', 'in', 'lt', 'lte', 'gt', 'gte'],
  Float64: ['eq', 'ne', 'in', 'lt', 'lte', 'gt', 'gte'],
  Boolean: ['eq', 'ne'],
  Timestamp: ['eq', 'ne', 'lt', 'lte', 'gt', 'gte'],
}
const samples: Record<DataType, string> = {
  Utf8: 'x',
  Int64: '1',
  Float64: '1.5',
  Boolean: 'true',
  Timestamp: new Date().toISOString(),
}

/** A value of the field: mostly one of the rows. */
function randomValue(random: Random, { name, dataType, values }: Field, rows: Row[]): string {
  const stored = rows.map((row) => row[name]).filter((value) => value != null)
  if (stored.length > 0 && random.chance(0.9)) return String(random.pick(stored))
  if (name.endsWith('_id') && name !== 'campaign_id') return randomUUID()
  return values?.[0] ?? samples[dataType]
}

/** A condition on any field, mostly on one that some of the rows have. */
function randomFilter(random: Random, rows: Row[]): string {
  if (random.chance(0.15))
    return random.pick([
      'has_profile:eq:true',
      'has_profile:eq:false',
      'event_data.plan:eq:pro',
      'event_data.plan:ne:pro',
      'event_data.seats:gt:4',
    ])
  const filled = fields.filter(({ name }) => rows.some((row) => row[name] != null))
  const field = random.pick(random.chance(0.8) && filled.length > 0 ? filled : fields)
  const value = () => randomValue(random, field, rows)
  const op = random.pick(operatorsOf[field.dataType])
  if (op === 'in') return `${field.name}:in:${[value(), value(), value()].join('|')}`
  if (op === 'like') return `${field.name}:like:%${value().slice(1, 4)}%`
  return `${field.name}:${op}:${value()}`
}

const sumOf = (groups: { count: number }[]) => groups.reduce((sum, { count }) => sum + count, 0)

test(`${runs} random filters and distinct: counts = index = events that a live read charges`, async () => {
  const { random, nowMs } = history
  let found = 0
  for (let n = 0; n < runs; n++) {
    const startMs = nowMs - random.integer(-12, 24 * 6) * hourMs
    const window = { start_ms: String(startMs), end_ms: String(startMs + 25 * hourMs) }
    const { rows } = await ask('events', { ...window, limit: '1000' })
    const conditions = Array.from({ length: random.integer(1, 3) }, () =>
      randomFilter(random, rows),
    )
    const question = { ...window, filter: conditions.join() }
    const named = [random.pick(fields).name, random.pick(fields).name]
    const distinct: { distinct?: string } = random.chance(0.5)
      ? { distinct: [...new Set(named)].join() }
      : {}
    const { counts, total } = await ask('event_counts', { ...question, ...distinct })
    const { index } = await ask('event_counts_index', question)
    const groups = await ask('event_counts', { ...question, group_by: 'event_type' })
    const { rows: delivered, meta } = await ask('events', {
      ...question,
      ...distinct,
      limit: '1000',
    })
    const shown = distinct.distinct ? (counts[0]?.distinct ?? 0) : total
    expect([question, distinct, shown, delivered.length]).toEqual([
      question,
      distinct,
      meta.charged,
      meta.charged,
    ])
    expect([question, sumOf(index), sumOf(groups.counts)]).toEqual([question, total, total])
    if (meta.charged > 0) found++
  }
  expect(found).toBeGreaterThan(runs / 4)
}, 3_600_000)
