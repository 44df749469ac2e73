import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, inject, test } from 'vitest'
import { deleteRequestedEvents } from '../../collector/accounts/projects/eventDeletions.ts'
import { deleteExpired } from '../../collector/identity/privacy/privacyJobs.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { newClickHouseDatabase, newPostgresDatabase } from '../harness/databases.ts'
import { storeOrganization, storeProject } from '../harness/owners.ts'
import { waitFor } from '../harness/service.ts'

/** Work on the ids of all organizations together: more of them than ClickHouse accepts as one value. */
let postgres: Postgres
let clickhouse: ClickHouse
let database: string
const many = 4_000
const [organization, project] = [randomUUID(), randomUUID()]

beforeAll(async () => {
  postgres = openPostgres(await newPostgresDatabase(), () => {})
  database = await newClickHouseDatabase()
  clickhouse = openClickHouse(inject('clickhouseUrl'), database)
  await storeOrganization(postgres, organization, 'O')
  await storeProject(postgres, project, organization, 'P')
})
afterAll(() => Promise.all([postgres.end(), clickhouse.close()]))

const store = (pixel: string, ts_millis: number) =>
  clickhouse.command({
    sql: `INSERT INTO events (organization_id, project_id, pixel_id, event_id, event_type, ts_millis, cookie_id)
          VALUES ({organization:UUID}, {project:UUID}, {pixel:UUID}, generateUUIDv4(), 'custom', {ts_millis:Int64}, generateUUIDv4())`,
    params: { organization, project, pixel, ts_millis },
  })
const eventsOf = async (pixel: string): Promise<number> => {
  const [found] = await clickhouse.rows<{ n: number }>({
    sql: 'SELECT toFloat64(count()) AS n FROM events WHERE pixel_id = {pixel:UUID}',
    params: { pixel },
  })
  return found!.n
}

test('events of thousands of deleted pixels are deleted', async () => {
  const pixel = randomUUID()
  await store(pixel, Date.now())
  await postgres.query(
    `INSERT INTO event_deletions (deletion_id, organization_id, project_id, pixel_id)
     SELECT gen_random_uuid(), $1::uuid, $2::uuid, gen_random_uuid() FROM generate_series(1, $4)
     UNION ALL SELECT gen_random_uuid(), $1, $2, $3::uuid`,
    [organization, project, pixel, many],
  )
  await waitFor('the event to go', async () => {
    await deleteRequestedEvents({ postgres, clickhouse })
    return (await eventsOf(pixel)) === 0
  })
})

test('events of thousands of pixels with the same retention period are deleted', async () => {
  const pixel = randomUUID()
  await store(pixel, Date.now() - 10 * 86_400_000)
  await postgres.query(
    `INSERT INTO pixels (pixel_id, project_id, name, settings)
     SELECT gen_random_uuid(), $1::uuid, 'Web', '{"retention_days":7}'::jsonb FROM generate_series(1, $3)
     UNION ALL SELECT $2, $1, 'Web', '{"retention_days":7}'`,
    [project, pixel, many],
  )
  await deleteExpired(postgres, clickhouse)
  await waitFor('the event to go', async () => (await eventsOf(pixel)) === 0)
})
