import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { exportsPerDay } from '../../../../collector/identity/privacy/exportRoute.ts'
import type { ClickHouse } from '../../../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../../../collector/platform/clickhouse/openClickHouse.ts'
import { type Accounts, openAccounts } from '../../accounts/harness.ts'

let it: Accounts
let clickhouse: ClickHouse
beforeAll(async () => {
  it = await openAccounts()
  clickhouse = openClickHouse(inject('clickhouseUrl'), it.clickhouseDatabase)
})
afterAll(async () => {
  await clickhouse?.close()
  await it.close()
})

const exportWith = async (key: Record<string, string>, query: string) => {
  const answer = await fetch(`${it.url}/api/v1/privacy/subject?${query}`, { headers: key })
  await answer.arrayBuffer()
  return answer
}

test('an export is in the audit log, which does not say of whom', async () => {
  expect((await exportWith(it.key, 'email=ida@example.com')).status).toBe(200)
  const { entries } = await it.done(it.owner, 'GET /dashboard/audit?limit=1')
  expect(entries[0]).toMatchObject({
    action: 'subject.export',
    object_kind: 'subject',
    details: { by: 'email' },
    actor: { kind: 'key', name: 'Demo key' },
  })
  expect(JSON.stringify(entries)).not.toContain('ida')
})

test('an organization makes so many in 24 hours, at once too, and another its own', async () => {
  await it.postgres.query(
    `INSERT INTO audit_log (organization_id, at, actor, action, object_kind, object_id)
     SELECT $1, now() - interval '23 hours', '{}', 'subject.export', 'subject', n FROM generate_series(1, $2::int) n`,
    [it.demo.organization_id, exportsPerDay - 4],
  )
  const stranger = await it.openStranger()
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => exportWith(it.key, `cookie_id=${randomUUID()}`)),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429, 429])
  const refused = answers.find(({ status }) => status === 429)!
  const seconds = Number(refused.headers.get('retry-after'))
  expect(seconds).toBeGreaterThan(3_400)
  expect(seconds).toBeLessThanOrEqual(3_600)
  expect((await exportWith(stranger.key, `cookie_id=${randomUUID()}`)).status).toBe(200)
  // A malformed request does not count.
  expect((await exportWith(stranger.key, '')).status).toBe(400)
})

test('each twenty browsers of a person count as one export', async () => {
  const of = await it.openStranger()
  const hem = 'ef'.repeat(32)
  const link = (browsers: number) =>
    clickhouse.command({
      sql: `INSERT INTO identity_links (organization_id, cookie_id, hem, source, confidence, observed_at)
            SELECT {organization:UUID}, generateUUIDv4(), {hem:String}, 'identify', 1, now()
            FROM numbers({browsers:UInt32})`,
      params: { organization: of.organization, hem, browsers },
    })
  const counted = async () => {
    const { rows } = await it.postgres.query<{ counted: number }>(
      `SELECT coalesce(details ->> 'counted', '1')::int AS counted FROM audit_log
       WHERE organization_id = $1 AND action = 'subject.export' ORDER BY at`,
      [of.organization],
    )
    return rows.map(({ counted }) => counted)
  }
  await link(20)
  expect((await exportWith(of.key, `hem=${hem}`)).status).toBe(200)
  await link(21)
  expect((await exportWith(of.key, `hem=${hem}`)).status).toBe(200)
  expect(await counted()).toEqual([1, 3])
  await link(1_900)
  expect((await exportWith(of.key, `hem=${hem}`)).status).toBe(429)
  await link(100)
  expect((await exportWith(of.key, `hem=${hem}`)).status).toBe(409)
  expect(await counted()).toEqual([1, 3])
})
