import { expect, inject, test } from 'vitest'
import {
  fillSampleDatabase,
  sampleCampaignRows,
  sampleRows,
} from '../../../../collector/ops/sandbox/sampleDatabase.ts'
import { openClickHouse } from '../../../../collector/platform/clickhouse/openClickHouse.ts'
import { newClickHouseDatabase } from '../../../harness/databases.ts'
import { isThorough } from '../../../harness/thorough.ts'

const dayMs = 86_400_000
const days = 10
const monday = new Date('2026-03-02T00:00:00.000Z')
const hours = isThorough ? Array.from({ length: 25 }, (_, hour) => hour) : [0, 1, 24]

test('the sample database is filled once, by however many processes at once, and goes on with the days', async () => {
  const database = await newClickHouseDatabase()
  const clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  const stored = async () => {
    const [counts] = await clickhouse.rows<{
      events: number
      ids: number
      days: number
      resolved: number
    }>({
      sql: `SELECT count() AS events, uniqExact(event_id) AS ids, uniqExact(intDiv(ts_millis, ${dayMs})) AS days,
              countIf(resolved) AS resolved FROM events`,
      params: {},
    })
    return counts!
  }
  const eventsFrom = (day: number) =>
    Array.from(
      { length: days + day },
      (_, at) => new Date(monday.getTime() + (at - days) * dayMs),
    ).flatMap((date) => [...sampleRows(date), ...sampleCampaignRows(date)]).length

  await Promise.all([1, 2, 3].map(() => fillSampleDatabase(clickhouse, monday, days)))
  const first = await stored()
  const [people] = await clickhouse.rows<{ known: number; strangers: number }>({
    sql: `SELECT uniqExactIf(hem, hem IN (SELECT hem FROM profiles)) AS known,
            uniqExactIf(hem, hem NOT IN (SELECT hem FROM profiles)) AS strangers FROM events WHERE resolved`,
    params: {},
  })
  expect(people!.known).toBeGreaterThan(20)
  expect(people!.strangers).toBe(0)
  expect(first).toMatchObject({ events: eventsFrom(0), ids: eventsFrom(0), days })
  expect(first.resolved).toBeGreaterThan(first.events * 0.15)

  await fillSampleDatabase(clickhouse, monday, days)
  expect(await stored()).toEqual(first)

  // At no hour is anything in the future, and at the end the day is complete.
  for (const hour of hours) {
    const now = new Date(monday.getTime() + hour * (dayMs / 24) + 30 * 60_000)
    await fillSampleDatabase(clickhouse, now, days + (hour >= 24 ? 1 : 0))
    const [latest] = await clickhouse.rows<{ at: number; received: number; signal: number }>({
      sql: `SELECT max(ts_millis) AS at, max(toUnixTimestamp64Milli(received_at)) AS received,
              (SELECT max(toUnixTimestamp(toDateTime(date, 'UTC'))) * 1000 FROM intent_signals) AS signal FROM events`,
      params: {},
    })
    for (const [what, at] of Object.entries(latest!))
      expect({ hour, what, isFuture: Number(at) > now.getTime() }).toEqual({
        hour,
        what,
        isFuture: false,
      })
  }
  expect(await stored()).toMatchObject({
    events: eventsFrom(1),
    ids: eventsFrom(1),
    days: days + 1,
  })
  await clickhouse.close()
})
