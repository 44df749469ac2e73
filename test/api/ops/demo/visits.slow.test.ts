import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import type { Demo } from '../../../../collector/ops/demo/demo.ts'
import { addSampleVisits } from '../../../../collector/ops/demo/sampleVisits.ts'
import type { ClickHouse } from '../../../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../../../collector/platform/clickhouse/openClickHouse.ts'
import { newClickHouseDatabase } from '../../../harness/databases.ts'

const dayMs = 86_400_000
const hourMs = dayMs / 24
/** A visit begins in the first of each five minutes. */
const agoMax = 6 * 60_000
const demo = { organization_id: randomUUID(), project_id: randomUUID() } as Demo

let clickhouse: ClickHouse
beforeAll(async () => {
  clickhouse = openClickHouse(inject('clickhouseUrl'), await newClickHouseDatabase())
})
afterAll(() => clickhouse.close())

const stored = async () => {
  const [found] = await clickhouse.rows<{
    events: number
    ids: number
    days: number
    cities: number
    measurements: number
    last: number
  }>({
    sql: `SELECT count() AS events, uniqExact(event_id) AS ids, uniqExact(intDiv(ts_millis, {dayMs:Int64})) AS days,
            uniqExact(city) AS cities,
            countIf(JSONExtractString(event_data, 'name') = 'web_vitals') AS measurements,
            max(ts_millis) AS last
          FROM events WHERE project_id = {projectId:UUID}`,
    params: { dayMs, projectId: demo.project_id },
  })
  return found!
}

test('sample visits reach the present, and each later call adds those that happened since, once', async () => {
  // Three at night UTC, when the regular visitors sleep.
  const now = Math.floor(Date.now() / dayMs) * dayMs - 21 * hourMs
  await addSampleVisits(clickhouse, demo, new Date(now))
  const first = await stored()
  expect(first.days).toBe(60)
  expect(first.cities).toBeGreaterThan(15)
  expect(first.measurements).toBeGreaterThan(1_000)
  expect(first.last).toBeLessThan(now)
  expect(first.last).toBeGreaterThan(now - agoMax)

  await addSampleVisits(clickhouse, demo, new Date(now))
  expect(await stored()).toEqual(first)

  for (let at = now; at <= now + 3 * hourMs; at += hourMs / 4) {
    await addSampleVisits(clickhouse, demo, new Date(at))
  }
  const later = await stored()
  expect(later.events).toBeGreaterThan(first.events)
  expect(later.ids).toBe(later.events)
  expect(later.last).toBeGreaterThan(now + 3 * hourMs - agoMax)
  expect(later.last).toBeLessThan(now + 3 * hourMs)
})
