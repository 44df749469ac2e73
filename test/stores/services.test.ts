/** `createServices` and `createApp` in the process of the test: several at once, each on databases of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { makeSpool, openSpools } from '../../collector/ingest/spool/spools.ts'
import type { Outbound } from '../../collector/platform/outbound/outbound.ts'
import { connectStores } from '../../collector/platform/stores/openStores.ts'
import { customEvent } from '../harness/api.ts'
import { openApp } from '../harness/app.ts'
import { newPostgresDatabase, newServiceDatabases } from '../harness/databases.ts'
import { storeOrganization, storePixel, storeProject } from '../harness/owners.ts'
import { waitFor } from '../harness/service.ts'

const projectId = '7d3a4e0c-97c0-4b2a-8d0a-0b6a4c1f2e11'
const pixelId = '7d3a4e0c-97c0-4b2a-8d0a-0b6a4c1f2e22'
const cookieId = '7d3a4e0c-97c0-4b2a-8d0a-0b6a4c1f2e33'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-services-'))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** A service that takes beacons for one pixel, whose name is the organization's. */
async function openOne(name: string) {
  const postgresUrl = await newPostgresDatabase()
  const address = { clickhouse: inject('clickhouseUrl'), postgresUrl }
  const stores = connectStores(address, await newServiceDatabases(), console)
  const { pool } = stores.postgres
  const organizationId = crypto.randomUUID()
  await storeOrganization(pool, organizationId, name)
  await storeProject(pool, projectId, organizationId, name)
  await storePixel(pool, pixelId, projectId, name)
  const spoolDirectory = join(directory, name)
  makeSpool(spoolDirectory)
  const sealed: string[] = []
  const spools = openSpools(
    spoolDirectory,
    { bytesMax: 1e9 },
    { sealed: (table) => sealed.push(table), commit: () => {}, noRoom: () => {} },
  )
  const now = () => Date.UTC(2026, 0, 15)
  const sendMail = async () => {}
  const outbound = {} as Outbound
  const opened = await openApp(stores, {
    logs: spools,
    now,
    sendMail,
    outbound,
    notReady: () => name,
  })
  expect(opened.services).toMatchObject({ now, sendMail, outbound })
  return {
    ...opened,
    postgresUrl,
    sealed,
    async close() {
      await opened.app.close()
      await Promise.all(Object.values(spools).map((spool) => spool.close()))
      await opened.close()
      await stores.close()
    },
  }
}

/** Connections to a database, seen from another. */
async function connectionsTo(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: inject('postgresUrl') })
  await client.connect()
  const { rows } = await client.query(
    'SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = $1',
    [new URL(url).pathname.slice(1)],
  )
  await client.end()
  return rows[0].count
}

test('two services in one process answer from databases of their own, and leave nothing open', async () => {
  const resources = () => process.getActiveResourcesInfo().toSorted()
  const before = resources()
  const services = [await openOne('Alder'), await openOne('Birch')]
  for (const { app, postgresUrl, services: it } of services) {
    const answer = await app.inject({
      method: 'POST',
      url: '/e',
      payload: {
        pixel_id: pixelId,
        cookie_id: cookieId,
        sent_at: new Date().toISOString(),
        events: [customEvent()],
      },
    })
    expect(answer.json(), answer.body).toMatchObject({ accepted: 1, rejected: [] })
    expect((await app.inject('/api/v3/events/web_event')).statusCode).toBe(401)
    const { rows } = await it.postgres.query('SELECT name FROM organizations')
    const [{ name }] = rows
    expect((await app.inject('/readyz')).json()).toMatchObject({ message: name })
    expect(await connectionsTo(postgresUrl)).toBeGreaterThan(1)
  }
  expect(services.map(({ postgresUrl }) => postgresUrl)).toHaveLength(
    new Set(services.map(({ postgresUrl }) => postgresUrl)).size,
  )
  for (const service of services) await service.close()
  for (const { sealed } of services) expect(sealed.length).toBeGreaterThan(0)
  for (const { postgresUrl } of services)
    await waitFor('its connections to end', async () => (await connectionsTo(postgresUrl)) === 0)
  // Earlier objects may have been deleted meanwhile.
  await waitFor('sockets and timers to end', () => {
    const left = [...before]
    return resources().every((resource) => {
      const at = left.indexOf(resource)
      if (at >= 0) left.splice(at, 1)
      return at >= 0
    })
  })
})

test('a service without spools takes no beacons, and one of the role ingest answers no reads', async () => {
  const postgresUrl = await newPostgresDatabase()
  const address = { clickhouse: inject('clickhouseUrl'), postgresUrl }
  const stores = connectStores(address, await newServiceDatabases(), console)
  const statuses = async (env: Record<string, string>) => {
    const { app, close } = await openApp(stores, { env })
    const answers = [
      await app.inject({ method: 'POST', url: '/e', payload: {} }),
      await app.inject('/api/v3/events/web_event'),
      await app.inject('/healthz'),
    ]
    await close()
    return answers.map(({ statusCode }) => statusCode)
  }
  expect(await statuses({})).toEqual([404, 401, 200])
  expect(await statuses({ FOOTFALL_ROLE: 'ingest' })).toEqual([404, 404, 200])
  await stores.close()
})

test('jobs that go through all databases find the two of events, whatever else the stores have', async () => {
  const address = { clickhouse: inject('clickhouseUrl'), postgresUrl: await newPostgresDatabase() }
  const stores = connectStores(address, await newServiceDatabases(), console)
  const primary = { address: address.clickhouse, shipping: stores.clickhouse.live }
  const { services, close } = await openApp({
    clickhouse: Object.assign(primary, stores.clickhouse),
    postgres: stores.postgres,
  })
  expect(Object.keys(services.clickhouse)).toEqual(['live', 'test'])
  await close()
  await stores.close()
})
