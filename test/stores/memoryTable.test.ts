import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openIgnoredTraffic } from '../../collector/ingest/beacon/ignoredTraffic.ts'
import { openPixelRegistry } from '../../collector/ingest/beacon/pixelRegistry.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../harness/databases.ts'
import { storeOrganization, storeProject } from '../harness/owners.ts'
import { startPostgresProxy } from '../harness/postgresProxy.ts'
import { waitFor } from '../harness/service.ts'

const pixelCount = 2_000
const pageRowsMax = 250
const [organization, project] = [randomUUID(), randomUUID()]
let url: string
let postgres: Postgres
let dataDir: string

beforeAll(async () => {
  url = await newPostgresDatabase()
  postgres = openPostgres(url, () => {})
  dataDir = mkdtempSync(join(tmpdir(), 'footfall-pixels-'))
  await storeOrganization(postgres, organization, 'Many')
  await storeProject(postgres, project, organization, 'Many')
  await postgres.query(
    `INSERT INTO pixels (pixel_id, project_id, name)
     SELECT gen_random_uuid(), $1, 'Pixel ' || n FROM generate_series(1, $2::int) AS n`,
    [project, pixelCount],
  )
})
afterAll(async () => {
  await postgres.end()
  rmSync(dataDir, { recursive: true, force: true })
})

/** The copy of the pixels on disk; null before it is there. */
const copy = () => {
  const directory = join(dataDir, 'kept')
  const name = readdirSync(directory).find((each) => /^pixels\.\w+$/.test(each))
  if (!name) return null
  const { ino, size } = statSync(join(directory, name))
  return { ino, size }
}
const twoPixels = async () => {
  const { rows } = await postgres.query<{ pixel_id: string }>('SELECT pixel_id FROM pixels LIMIT 2')
  return [rows[0]!.pixel_id, rows[1]!.pixel_id] as const
}

test('many pixels are read in pages, and a change of one writes less than a thousandth of them', async () => {
  const queries = vi.spyOn(postgres, 'query')
  const registry = await openPixelRegistry(postgres, url, { dataDir, keeps: true })
  try {
    const answers = await Promise.all(queries.mock.results.map(({ value }) => value as unknown))
    const rows = answers.map((answer) => (answer as { rows: unknown[] }).rows.length)
    queries.mockRestore()
    expect(rows.reduce((sum, each) => sum + each, 0)).toBeGreaterThanOrEqual(pixelCount)
    expect(Math.max(...rows)).toBeLessThanOrEqual(pageRowsMax)

    const snapshot = await waitFor('the copy', () => {
      try {
        return copy()
      } catch {
        return null
      }
    })
    const [changed] = await twoPixels()
    await postgres.query('UPDATE pixels SET active = false WHERE pixel_id = $1', [changed])
    await waitFor('the change', () => registry.get(changed)?.active === false)
    const after = await waitFor('the change on disk', () => {
      const now = copy()!
      return now.size !== snapshot.size || now.ino !== snapshot.ino ? now : null
    })
    expect(after.ino).toBe(snapshot.ino)
    expect(after.size - snapshot.size).toBeLessThan(snapshot.size / 1_000)
  } finally {
    await registry.close()
  }
})

test('a registry that starts without PostgreSQL has the pixels as they were last, and later as they are', async () => {
  const [changed, removed] = await twoPixels()
  const before = await openPixelRegistry(postgres, url, { dataDir, keeps: true })
  await postgres.query('UPDATE pixels SET active = false WHERE pixel_id = $1', [changed])
  await waitFor('the change', () => before.get(changed)?.active === false)
  await before.close()

  const proxy = await startPostgresProxy(url, 'nothing is lost')
  await proxy.refuse()
  const away = openPostgres(proxy.url, () => {})
  const registry = await openPixelRegistry(away, proxy.url, { dataDir, keeps: true })
  try {
    expect(registry.get(changed)).toMatchObject({ active: false, projectId: project })
    await postgres.query('UPDATE pixels SET active = true WHERE pixel_id = $1', [changed])
    await postgres.query('DELETE FROM pixels WHERE pixel_id = $1', [removed])
    await proxy.accept()
    await waitFor('the pixel that was removed meanwhile', () => registry.get(removed) === undefined)
    expect(registry.get(changed)).toMatchObject({ active: true })
  } finally {
    await registry.close()
    await away.end()
    await proxy.refuse()
  }
})

test('ignored traffic: one row is read for a change of a project with many pixels, and kept for a start without PostgreSQL', async () => {
  const ignoring = mkdtempSync(join(tmpdir(), 'footfall-ignored-'))
  const ignore = (networks: string[]) =>
    postgres.query('UPDATE projects SET ignored_networks = $1 WHERE project_id = $2', [
      networks,
      project,
    ])
  const queries = vi.spyOn(postgres, 'query')
  const before = await openIgnoredTraffic(postgres, url, { dataDir: ignoring, keeps: true })
  expect(before.rulesOf(project)).toBeUndefined()
  queries.mockClear()
  await ignore(['203.0.113.0/24'])
  await waitFor('the change', () => before.rulesOf(project)?.ignoresAddress('203.0.113.9'))
  const read = queries.mock.calls.filter(([sql]) => String(sql).includes('SELECT'))
  expect(read.map(([, values]) => values)).toEqual([[[project]]])
  queries.mockRestore()
  expect(before.rulesOf(project)).toBe(before.rulesOf(project))
  await before.close()

  const proxy = await startPostgresProxy(url, 'nothing is lost')
  await proxy.refuse()
  const away = openPostgres(proxy.url, () => {})
  const registry = await openIgnoredTraffic(away, proxy.url, { dataDir: ignoring, keeps: true })
  const withoutCopy = await openIgnoredTraffic(away, proxy.url, {
    dataDir: join(ignoring, 'nothing'),
    keeps: false,
  })
  try {
    expect(registry.rulesOf(project)?.ignoresAddress('203.0.113.9')).toBe(true)
    expect(withoutCopy.rulesOf(project)).toBeUndefined()
    await proxy.accept()
    await waitFor('the settings', () => withoutCopy.rulesOf(project)?.ignoresAddress('203.0.113.9'))
    await ignore([])
    await waitFor('the end of the settings', () => registry.rulesOf(project) === undefined)
  } finally {
    await registry.close()
    await withoutCopy.close()
    await away.end()
    await proxy.refuse()
    rmSync(ignoring, { recursive: true, force: true })
  }
})
