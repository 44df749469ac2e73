/** examples/clients/python: its tests, run by pytest against a service. */
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'
import { beaconOf, customEvent, postBeacon } from '../harness/api.ts'
import { type Relay, startRelay } from '../harness/relay.ts'
import { waitFor } from '../harness/service.ts'
import { openTenants, type Tenants } from '../harness/tenants.ts'

const directory = join(packageRoot, 'examples/clients/python')

let it: Tenants
let losing: Relay
let counting: Relay
beforeAll(async () => {
  it = await openTenants({ env: { FOOTFALL_RATE_LIMITS: 'true' } })
  losing = await startRelay(it.service.url)
  counting = await startRelay(it.service.url)
})
afterAll(async () => {
  losing?.close()
  counting?.close()
  await it?.close()
})

/** A Python that has pytest, such as Debian's with python3-pytest. */
function findPython(): string {
  const found = ['python3', '/usr/bin/python3'].find(
    (python) => spawnSync(python, ['-m', 'pytest', '--version']).status === 0,
  )
  if (!found)
    throw new Error('No python3 has pytest. On Debian run: apt-get install python3-pytest')
  return found
}

test('its tests pass: types, pages, errors, waits, and retries that are charged once', async () => {
  const events = Array.from({ length: 5 }, () => customEvent())
  const { url, demo } = it.service
  const beacon = beaconOf({ demo }, events, { pixel_id: it.second.pixelId })
  await waitFor('the pixel', async () => (await postBeacon(url, beacon)).status === 200)
  await waitFor('the events', async () => {
    const { body } = await it.ask('/api/v3/events/web_event/counts', {
      pixel_id: it.second.pixelId,
    })
    return body.total === 5
  })
  losing.toLose = 1
  const given = {
    url,
    losing_url: losing.url,
    counting_url: counting.url,
    key: demo.api_key,
    secret: demo.api_secret,
    project_id: it.second.projectId,
    pixel_id: it.second.pixelId,
    event_ids: events.map(({ event_id }) => event_id),
  }
  const { stdout } = await promisify(execFile)(
    findPython(),
    ['-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'tests'],
    {
      cwd: directory,
      env: {
        ...process.env,
        PYTHONPATH: directory,
        PYTHONDONTWRITEBYTECODE: '1',
        FOOTFALL_TEST: JSON.stringify(given),
      },
    },
  ).catch((error) => {
    throw new Error(`${error.message}\n${error.stdout}`)
  })
  expect(stdout).toMatch(/\b10 passed/)

  const keys = losing.requests.map(({ headers }) => headers['idempotency-key'])
  expect(keys).toEqual([keys[0], keys[0], 'mine'])
  expect(keys[0]).not.toBe('mine')
  // 60 calls needed more requests than 60: the service refused some, and the client waited.
  expect(counting.requests.length).toBeGreaterThan(60)
})

test('the retried call of its tests was charged once', async () => {
  const { rows } = await it.postgres.query(
    `SELECT records::int FROM ledger WHERE organization_id = $1 AND records = 3`,
    [it.organizationId],
  )
  expect(rows).toEqual([{ records: 3 }])
})
