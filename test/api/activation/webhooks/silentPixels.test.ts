/** A pixel that sent events but none for a day is reported, once until it sends again. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tellSilentPixels } from '../../../../collector/accounts/accountJobs.ts'
import { storeOrganization, storePixel, storeProject } from '../../../harness/owners.ts'
import { eventOf, openEvents, organizationId, pixelId, projectId } from '../../events/harness.ts'

let it: Awaited<ReturnType<typeof openEvents>>
beforeAll(async () => {
  // It takes the messages about the pixels of all organizations.
  it = await openEvents({ isAlone: true })
  await storeOrganization(it.postgres, organizationId, 'O')
  await storeProject(it.postgres, projectId, organizationId, 'P')
  await storePixel(it.postgres, pixelId, projectId)
})
afterAll(() => it.close())

const hourMs = 3_600_000
const beginning = Date.UTC(2026, 5, 1)
const speak = (hour: number) => it.insert([eventOf(beginning + hour * hourMs, 0)])
/** Looks every hour from one to another; of which events it told. */
async function listen(fromHour: number, toHour: number) {
  for (let hour = fromHour; hour <= toHour; hour++)
    await tellSilentPixels(
      { postgres: it.postgres, clickhouse: it.clickhouse.live },
      beginning + hour * hourMs,
    )
  const { rows } = await it.postgres.query(
    'DELETE FROM outbox_messages RETURNING type, organization_id, project_id, data',
  )
  return rows
}

test('silence of a day is told once, and again after the pixel has spoken', async () => {
  await speak(0)
  expect(await listen(1, 23)).toEqual([])
  const silent = {
    type: 'pixel.silent',
    organization_id: organizationId,
    project_id: projectId,
    data: {
      pixel_id: pixelId,
      project_id: projectId,
      name: 'Shop',
      last_event_at: expect.any(String),
    },
  }
  expect(await listen(24, 60)).toEqual([silent])
  await speak(61)
  expect(await listen(62, 84)).toEqual([])
  expect(await listen(85, 120)).toEqual([silent])
})

test('hours in which nobody listened, or in which events waited to be stored, prove nothing', async () => {
  await speak(200)
  expect(await listen(201, 201)).toEqual([])
  // Down for two days: it is listened to for another one first.
  expect(await listen(250, 272)).toEqual([])
  await it.postgres.query(
    "INSERT INTO collectors (collector_id, hostname, complete_until_ms) VALUES (gen_random_uuid(), 'a', $1)",
    [beginning + 272 * hourMs],
  )
  expect(await listen(273, 280)).toEqual([])
  await it.postgres.query('DELETE FROM collectors')
  expect(await listen(281, 304)).toEqual([])
  expect(await listen(305, 306)).toHaveLength(1)
})
