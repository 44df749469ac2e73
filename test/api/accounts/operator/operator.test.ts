import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { changeOperator } from '../../../../collector/accounts/operator/operatorCommands.ts'
import { appendDeadLetter } from '../../../../collector/ingest/shipper/deadLetters.ts'
import { noteLastBackup } from '../../../../collector/ops/backup/lastBackup.ts'
import { beaconOf, customEvent, postBeacon } from '../../../harness/api.ts'
import { waitFor } from '../../../harness/service.ts'
import { type Accounts, type Json, openAccounts } from '../harness.ts'

let it: Accounts
beforeAll(async () => {
  it = await openAccounts()
})
afterAll(() => it.close())

const routes = [
  'GET /dashboard/operator/status',
  'GET /dashboard/operator/tenants',
  'GET /dashboard/operator/dead-letters',
  'POST /dashboard/operator/dead-letters/replay',
]

test('is for operators alone: no owner gets in, and who is taken off is out at once', async () => {
  const owner = await it.join('owner')
  for (const route of routes) {
    expect((await it.ask(owner.session, route)).status, route).toBe(403)
  }
  expect(await it.done(owner.session, 'GET /dashboard/session')).not.toHaveProperty('is_operator')
  await changeOperator(it.postgres, owner.email.toUpperCase(), true)
  for (const route of routes) expect((await it.ask(owner.session, route)).status, route).toBe(200)
  expect(await it.done(owner.session, 'GET /dashboard/session')).toMatchObject({
    is_operator: true,
  })
  await changeOperator(it.postgres, owner.email, false)
  for (const route of routes) expect((await it.ask(owner.session, route)).status, route).toBe(403)
  await expect(changeOperator(it.postgres, `${randomUUID()}@example.com`, true)).rejects.toThrow(
    'no user has the e-mail address',
  )
})

test('says how collectors, spool, jobs and both stores are', async () => {
  expect((await postBeacon(it.url, beaconOf(it.service, [customEvent()]))).status).toBe(200)
  const status = await waitFor('the event to be stored, and that to be told', async () => {
    const found = await it.done(it.owner, 'GET /dashboard/operator/status')
    return found.clickhouse.events > 0 && found.collectors.length > 0 && found
  })
  expect(status).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    node_version: expect.stringMatching(/^v\d+/),
    clickhouse: { is_reachable: true, version: expect.stringMatching(/^\d+\.\d+/) },
    postgres: { is_reachable: true, version: expect.stringMatching(/^\d+/) },
  })
  expect(status.clickhouse.disk_free_bytes).toBeGreaterThan(0)
  expect(status.postgres.connections).toBeGreaterThan(0)
  expect(status.spool.map(({ table }: { table: string }) => table)).toContain('events')
  expect(status.collectors[0].lag_ms).toBeGreaterThanOrEqual(0)
})

test('shows the last backup, and when a backup last read the earlier ones', async () => {
  const backup = {
    backup_id: '2026-11-27T12-33-00-123Z',
    place: 's3://backups/live/',
    created_at: '2026-11-27T12:33:00.123Z',
    complete_until: null,
    verified_at: '2026-11-25T02:00:00.000Z',
    bytes: 5_000_000_000,
    damaged_objects: 1,
  }
  await it.postgres.query('DELETE FROM last_backup')
  const shown = async () => (await it.done(it.owner, 'GET /dashboard/operator/status')).last_backup
  expect(await shown()).toBeNull()
  await noteLastBackup(it.postgres, { ...backup, backup_id: 'an earlier one' })
  await noteLastBackup(it.postgres, backup)
  expect(await shown()).toEqual({ ...backup, completed_at: expect.stringMatching(/^20.+Z$/) })
})

test('lists the organizations that do most, with the events that they have', async () => {
  const stranger = await it.openStranger()
  const demo = await waitFor('the events', async () => {
    const { tenants } = await it.done(it.owner, 'GET /dashboard/operator/tenants')
    return tenants.find(
      ({ organization_id }: { organization_id: string }) =>
        organization_id === it.demo.organization_id,
    )
  })
  const { total } = await it.done(it.key, 'GET /api/v3/events/web_event/counts')
  expect(demo).toMatchObject({ name: 'Demo organization', events: total, amount_micros: 0 })
  const { tenants } = await it.done(it.owner, 'GET /dashboard/operator/tenants')
  expect(JSON.stringify(tenants)).not.toContain(stranger.organization)
})

test('replays dead letters: what goes in is gone from the list and counted once, what is refused stays with its reason', async () => {
  const directory = join(it.service.dataDir, 'dead_letters')
  const project_id = await it.makeProject()
  const received = new Date().toISOString()
  const row = (more: object) =>
    JSON.stringify({
      received_at: received,
      organization_id: it.demo.organization_id,
      project_id,
      pixel_id: randomUUID(),
      event_id: null,
      event_type: null,
      path: '/a',
      message: 'once refused',
      event: '{}',
      spool_id: randomUUID(),
      seq: 1,
      ...more,
    })
  const good = { table: 'rejected_events', reason: 'was full', row: row({}) }
  appendDeadLetter(directory, 'one', good)
  appendDeadLetter(directory, 'one', { ...good, row: row({ received_at: 'no time at all' }) })
  // Others of this collector have theirs.
  const list = async (): Promise<Json[]> =>
    (await it.done(it.owner, 'GET /dashboard/operator/dead-letters')).dead_letters.filter(
      ({ row }: Json) => row.includes(project_id),
    )
  expect(await list()).toMatchObject([good, { reason: 'was full' }])
  const replays = await Promise.all([
    it.ask(it.owner, 'POST /dashboard/operator/dead-letters/replay'),
    it.ask(it.owner, 'POST /dashboard/operator/dead-letters/replay'),
  ])
  // One after the other, or the second request is refused because a replay is running.
  for (const { status } of replays) expect([200, 409]).toContain(status)
  expect(replays.reduce((sum, { body }) => sum + (body.replayed ?? 0), 0)).toBe(1)
  const left = await list()
  expect(left).toHaveLength(1)
  expect(left[0].reason).not.toBe('was full')
  const rejected = await waitFor('the row', async () => {
    const { rejected_events } = await it.done(
      it.key,
      `GET /api/v1/rejected_events?project_id=${project_id}`,
    )
    return rejected_events.length > 0 && rejected_events
  })
  expect(rejected).toHaveLength(1)
  expect(existsSync(join(directory, 'one.jsonl'))).toBe(true)
})
