import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { deleteRequestedEvents } from '../../../collector/accounts/projects/eventDeletions.ts'
import type { ClickHouse } from '../../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../../collector/platform/clickhouse/openClickHouse.ts'
import { publishErasedUntil, registerCollector } from '../../../collector/platform/collectors.ts'
import { migratePostgres } from '../../../collector/platform/postgres/migrate.ts'
import { beaconOf, customEvent, postBeacon, readEvent } from '../../harness/api.ts'
import { newPostgresDatabase } from '../../harness/databases.ts'
import { waitFor } from '../../harness/service.ts'
import { quickest } from '../../harness/timing.ts'
import { type Accounts, openAccounts } from './harness.ts'

let it: Accounts
let clickhouse: ClickHouse
beforeAll(async () => {
  // A deletion reaches every process.
  it = await openAccounts({ apps: 2 })
  clickhouse = openClickHouse(inject('clickhouseUrl'), it.clickhouseDatabase)
})
afterAll(async () => {
  await clickhouse.close()
  await it.close()
})

/** How many events of each pixel were acknowledged. */
const acknowledged = new Map<string, number>()

const countAcknowledged = (pixel_id: string, status: number): void => {
  if (status === 200) acknowledged.set(pixel_id, (acknowledged.get(pixel_id) ?? 0) + 1)
}

/** Spread over both apps. */
const statusesOf = (pixel_id: string, count = 12): Promise<number[]> =>
  Promise.all(
    Array.from({ length: count }, async () => {
      const beacon = beaconOf(it.service, [customEvent()], { pixel_id })
      const { status } = await postBeacon(it.nextUrl(), beacon)
      countAcknowledged(pixel_id, status)
      return status
    }),
  )

/** Waits until every app takes events of the pixel. */
const isTaken = (pixel_id: string) =>
  waitFor('the pixel', async () => (await statusesOf(pixel_id)).every((status) => status === 200))

/** Sends an event, a bad one, and whom the cookie belongs to. */
const send = async (pixel_id: string) => {
  const events = [customEvent(), customEvent({}, { event_type: 'nonsense' })]
  const answer = await postBeacon(
    it.url,
    beaconOf(it.service, events, { pixel_id, hem: 'a'.repeat(64) }),
  )
  expect(answer.status).toBe(200)
  countAcknowledged(pixel_id, 200)
}

const tables = ['events', 'rejected_events', 'identity_links'] as const

/** How many rows of the pixel each table has. */
const rowsOf = async (pixel_id: string): Promise<number[]> =>
  Promise.all(
    tables.map(async (table) => {
      const [found] = await clickhouse.rows<{ n: number }>({
        sql: `SELECT count() AS n FROM ${table} WHERE pixel_id = {pixel_id:UUID}`,
        params: { pixel_id },
      })
      return Number(found!.n)
    }),
  )

/** Waits until all that was acknowledged is there. */
const hasRows = (pixel_id: string) =>
  waitFor('the rows', async () => {
    const [events, ...others] = await rowsOf(pixel_id)
    return events === acknowledged.get(pixel_id) && others.every((count) => count > 0)
  })

/** Stores a day of another product for a project. */
const importDay = (project_id: string) =>
  clickhouse.command({
    sql: `INSERT INTO imported_days (project_id, source, date, visitors)
          SELECT {project_id:UUID}, 'plausible', '2026-01-02', 3`,
    params: { project_id },
  })

const hasNoImportedDays = (project_id: string) =>
  waitFor('the imported days to go', async () => {
    const days = await clickhouse.rows({
      sql: 'SELECT 1 FROM imported_days WHERE project_id = {project_id:UUID}',
      params: { project_id },
    })
    return days.length === 0
  })

const hasNone = (pixel_id: string) =>
  waitFor(
    'the rows to go',
    async () => (await rowsOf(pixel_id)).every((count) => count === 0),
    60_000,
  )

describe('collecting stops at once in every process', () => {
  const ways: [
    string,
    () => Promise<{ pixel: string; stop: () => Promise<unknown>; status: number }>,
  ][] = [
    [
      'a pixel that is switched off',
      async () => {
        const pixel = await it.makePixel(it.demo.project_id)
        const off = { pixel_id: pixel, active: false }
        return { pixel, stop: () => it.done(it.key, 'PUT /api/v1/pixel/update', off), status: 403 }
      },
    ],
    [
      'a deleted pixel',
      async () => {
        const pixel = await it.makePixel(it.demo.project_id)
        const gone = { pixel_id: pixel, events: 'keep' }
        return {
          pixel,
          stop: () => it.done(it.key, 'DELETE /api/v1/pixel/delete', gone),
          status: 404,
        }
      },
    ],
    [
      'a deleted project',
      async () => {
        const project_id = await it.makeProject()
        const pixel = await it.makePixel(project_id)
        const gone = { project_id, events: 'keep' }
        return {
          pixel,
          stop: () => it.done(it.key, 'DELETE /api/v1/project/delete', gone),
          status: 404,
        }
      },
    ],
    [
      'a deleted organization',
      async () => {
        const { pixel, key } = await it.openStranger()
        const gone = { confirm: 'Strangers', events: 'keep' }
        return { pixel, stop: () => it.done(key, 'DELETE /api/v1/organization', gone), status: 404 }
      },
    ],
  ]

  test.each(ways)('%s', async (_, open) => {
    let opened: Awaited<ReturnType<typeof open>>
    const begin = async () => {
      opened = await open()
      await isTaken(opened.pixel)
    }
    const end = async () => {
      const { pixel, stop, status } = opened
      await stop()
      await waitFor('the end', async () =>
        (await statusesOf(pixel)).every((seen) => seen === status),
      )
      expect((await fetch(`${it.url}/p/${pixel}.js`)).status).toBe(status)
    }
    await begin()
    expect(await quickest(2_000, end, begin)).toBeLessThan(2_000)
  })
})

describe('events', () => {
  test('of a deleted pixel are kept when asked to, and go when asked to, with what was rejected and who they were', async () => {
    const [kept, deleted, neighbour] = [
      await it.makePixel(it.demo.project_id),
      await it.makePixel(it.demo.project_id),
      await it.makePixel(it.demo.project_id),
    ]
    const pixels = [kept, deleted, neighbour]
    for (const pixel of pixels) await isTaken(pixel)
    for (const pixel of pixels) await send(pixel)
    for (const pixel of pixels) await hasRows(pixel)
    const before = await Promise.all([rowsOf(kept), rowsOf(neighbour)])
    await it.done(it.key, 'DELETE /api/v1/pixel/delete', { pixel_id: kept, events: 'keep' })
    await it.done(it.key, 'DELETE /api/v1/pixel/delete', { pixel_id: deleted, events: 'delete' })
    await hasNone(deleted)
    expect(await Promise.all([rowsOf(kept), rowsOf(neighbour)])).toEqual(before)
  })

  test('of other pixels no longer know whom a deleted pixel had identified', async () => {
    const [deleted, neighbour] = [
      await it.makePixel(it.demo.project_id),
      await it.makePixel(it.demo.project_id),
    ]
    for (const pixel of [deleted, neighbour]) await isTaken(pixel)
    const cookie_id = randomUUID()
    const event = customEvent()
    const identify = beaconOf(it.service, [], { pixel_id: deleted, cookie_id, hem: 'b'.repeat(64) })
    expect((await postBeacon(it.url, identify)).status).toBe(200)
    const visit = beaconOf(it.service, [event], { pixel_id: neighbour, cookie_id })
    expect((await postBeacon(it.url, visit)).status).toBe(200)
    const isResolved = async () => (await readEvent(it.service, event.event_id)).resolved
    await waitFor('the visitor to be known', isResolved)
    await it.done(it.key, 'DELETE /api/v1/pixel/delete', { pixel_id: deleted, events: 'delete' })
    await waitFor('the visitor to be forgotten', async () => !(await isResolved()))
  })

  test('of a deleted project go with all its pixels', async () => {
    const project_id = await it.makeProject()
    const pixels = [await it.makePixel(project_id), await it.makePixel(project_id)]
    for (const pixel of pixels) await isTaken(pixel)
    for (const pixel of pixels) await send(pixel)
    for (const pixel of pixels) await hasRows(pixel)
    await importDay(project_id)
    await it.done(it.key, 'DELETE /api/v1/project/delete', { project_id, events: 'delete' })
    for (const pixel of pixels) await hasNone(pixel)
    await hasNoImportedDays(project_id)
  })

  test('of a deleted organization go, and its keys and members are let in no more', async () => {
    const stranger = await it.openStranger()
    await isTaken(stranger.pixel)
    await send(stranger.pixel)
    await hasRows(stranger.pixel)
    const { rows: projects } = await it.postgres.query<{ project_id: string }>(
      'SELECT project_id FROM projects WHERE organization_id = $1',
      [stranger.organization],
    )
    for (const { project_id } of projects) await importDay(project_id)
    const gone = { confirm: 'Strangers', events: 'delete' }
    expect(await it.done(stranger.key, 'DELETE /api/v1/organization', gone)).toEqual({
      deleted: true,
      events: 'delete',
    })
    // Also while the key is remembered: never an error of ours.
    const after = await it.ask(stranger.key, 'GET /api/v1/organization')
    expect([after.status, after.body.error]).toEqual([401, 'Invalid API key'])
    await waitFor(
      'the refusal',
      async () => (await it.ask(stranger.key, 'GET /api/v1/whoami')).status === 401,
    )
    await hasNone(stranger.pixel)
    expect(projects.length).toBeGreaterThan(0)
    for (const { project_id } of projects) await hasNoImportedDays(project_id)
    const left = await it.postgres.query(
      `SELECT FROM projects WHERE organization_id = $1 UNION ALL
       SELECT FROM members WHERE organization_id = $1 UNION ALL
       SELECT FROM api_keys WHERE organization_id = $1`,
      [stranger.organization],
    )
    expect(left.rowCount).toBe(0)
    const { rows } = await it.postgres.query(
      'SELECT action FROM audit_log WHERE organization_id = $1',
      [stranger.organization],
    )
    expect(rows).toEqual([{ action: 'organization.delete' }])
  })

  test('that arrive after their pixel was deleted go too, until ten minutes have passed and the spool is empty', async () => {
    const [organization_id, project_id, pixel_id] = [randomUUID(), randomUUID(), randomUUID()]
    // A database of its own: here nobody else carries out deletions.
    const pool = new pg.Pool({ connectionString: await newPostgresDatabase() })
    await migratePostgres(pool)
    const arrive = () =>
      clickhouse.insertLines(
        'events',
        Readable.from(
          [
            `${JSON.stringify({
              organization_id,
              project_id,
              pixel_id,
              event_id: randomUUID(),
              event_type: 'custom',
              ts_millis: Date.now(),
              received_at: new Date().toISOString(),
              event_data: '{}',
              cookie_id: randomUUID(),
              page_url: 'http://shop.example/',
              device_type: 'desktop',
              client_ip: '203.0.113.7',
              spool_id: randomUUID(),
            })}\n`,
          ],
          { objectMode: false },
        ),
        randomUUID(),
      )
    const ask = (ago: string) =>
      pool.query(
        `INSERT INTO event_deletions (deletion_id, organization_id, project_id, pixel_id, requested_at)
         VALUES (gen_random_uuid(), $1, $2, $3, now() - $4::interval)`,
        [organization_id, project_id, pixel_id, ago],
      )
    const isFinished = async () => {
      const { rows } = await pool.query(
        'SELECT finished_at IS NOT NULL AS finished FROM event_deletions WHERE pixel_id = $1',
        [pixel_id],
      )
      return rows[0].finished
    }
    const pass = () => deleteRequestedEvents({ postgres: pool, clickhouse })
    const isEmpty = () => waitFor('the rows to go', async () => (await rowsOf(pixel_id))[0] === 0)

    try {
      await ask('9 minutes')
      await pass()
      expect(await isFinished()).toBe(false)
      await arrive()
      await pass()
      await isEmpty()
      await pool.query(
        `UPDATE event_deletions SET requested_at = requested_at - interval '2 minutes' WHERE pixel_id = $1`,
        [pixel_id],
      )
      await arrive()
      await pass()
      expect(await isFinished()).toBe(false)
      await isEmpty()
      // Another machine has not shipped what it accepted an hour ago.
      const collectorId = randomUUID()
      await registerCollector(pool, collectorId)
      await publishErasedUntil(pool, collectorId, Date.now() - 3_600_000)
      await pass()
      expect(await isFinished()).toBe(false)
      await pool.query('DELETE FROM collectors WHERE collector_id = $1', [collectorId])
      await pass()
      expect(await isFinished()).toBe(true)
    } finally {
      await pool.end()
    }
  })
})
