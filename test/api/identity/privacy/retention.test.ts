import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deleteExpired } from '../../../../collector/identity/privacy/privacyJobs.ts'
import { beaconOf, customEvent, postBeacon } from '../../../harness/api.ts'
import { waitFor } from '../../../harness/service.ts'
import { openPrivacy, type Privacy } from './harness.ts'

let it: Privacy
beforeAll(async () => {
  it = await openPrivacy()
})
afterAll(() => it.close())

const dayMs = 86_400_000
/** One moment for all, whatever day begins meanwhile. */
const nowMs = Date.now()

const eventOf = (daysAgo: number) => {
  const event = customEvent()
  event.event_data.timestamp = new Date(nowMs - daysAgo * dayMs).toISOString()
  return event
}

/** How old a pixel's events are, in whole days. */
const agesOf = async (pixel: string): Promise<number[]> => {
  const found = await it.clickhouse.rows<{ ts_millis: number }>({
    sql: 'SELECT ts_millis FROM events WHERE pixel_id = {pixel:UUID} ORDER BY ts_millis DESC',
    params: { pixel },
  })
  return found.map(({ ts_millis }) => Math.round((nowMs - ts_millis) / dayMs))
}

test('each pixel keeps its events for as many days as its settings say, and without the setting all', async () => {
  const { project_id } = it.demo
  const kept = {
    week: await it.makePixel(project_id, { settings: { retention_days: 7 } }),
    month: await it.makePixel(project_id, { settings: { retention_days: 30 } }),
    all: await it.makePixel(project_id),
  }
  const ages = [0, 7, 8, 30, 31, 60]
  for (const pixel_id of Object.values(kept)) {
    const events = ages.map((days) => eventOf(days))
    const beacon = beaconOf(it.service, events, { pixel_id, cookie_id: randomUUID() })
    // Without a key, events of 31 days ago are rejected.
    await waitFor('the pixel', async () => {
      const answer = await postBeacon(it.url, beacon, it.key)
      return answer.status === 200
    })
    await waitFor('the events', async () => (await agesOf(pixel_id)).length === ages.length)
  }
  await deleteExpired(it.postgres, it.clickhouse, nowMs)
  await waitFor('the old to go', async () => (await agesOf(kept.week)).length === 2, 20_000)
  await waitFor('the old to go', async () => (await agesOf(kept.month)).length === 4, 20_000)
  expect(await agesOf(kept.week)).toEqual([0, 7])
  expect(await agesOf(kept.month)).toEqual([0, 7, 8, 30])
  expect(await agesOf(kept.all)).toEqual(ages)
})

test('links and rejected events go with them', async () => {
  const pixel_id = await it.makePixel(it.demo.project_id, { settings: { retention_days: 7 } })
  const bad = customEvent({}, { event_type: 'nonsense' })
  const beacon = beaconOf(it.service, [customEvent(), bad], { pixel_id, hem: 'b'.repeat(64) })
  await waitFor('the pixel', async () => (await postBeacon(it.url, beacon)).status === 200)
  const rowsOf = () =>
    Promise.all(
      ['events', 'rejected_events', 'identity_links'].map((table) =>
        it.countOf(table, 'pixel_id = {pixel_id:UUID}', { pixel_id }),
      ),
    )
  await waitFor('the rows', async () => (await rowsOf()).every((count) => count === 1))
  await deleteExpired(it.postgres, it.clickhouse, Date.now() + 6 * dayMs)
  expect(await rowsOf()).toEqual([1, 1, 1])
  await deleteExpired(it.postgres, it.clickhouse, Date.now() + 9 * dayMs)
  await waitFor(
    'the rows to go',
    async () => (await rowsOf()).every((count) => count === 0),
    20_000,
  )
})
