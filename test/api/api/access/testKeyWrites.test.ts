/** A write with a test key is answered as one with a live key, and changes nothing in any store. */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sampleIdentity } from '../../../../collector/api/access/sandboxTenant.ts'
import { type Document, publicOperations } from '../../../../collector/api/openapi/document.ts'
import type { ClickHouse } from '../../../../collector/platform/clickhouse/client.ts'
import { openDatabases } from '../../../../collector/platform/clickhouse/cluster.ts'
import { openPostgres, type Postgres } from '../../../../collector/platform/postgres/pool.ts'
import { openValidator, placeOfAnswer } from '../../../harness/openapi.ts'
import { type Answering, waitFor } from '../../../harness/service.ts'
import { openTenant } from '../../../harness/sharedApp.ts'
import { askedOfSample, sampleRefusals } from '../../../spec/sampleTenant.ts'

let service: Answering
let postgres: Postgres
let databases: Record<'live' | 'test', ClickHouse>
let document: Document

beforeAll(async () => {
  const tenant = await openTenant({ hasSample: true })
  const { env } = tenant
  service = tenant.service
  postgres = openPostgres(env.DATABASE_URL!, () => {})
  databases = openDatabases(env.CLICKHOUSE_URL!, env.CLICKHOUSE_DATABASE!)
  document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document
  await waitFor('the sample audience and list', isReady, 120_000)
}, 600_000)
afterAll(async () => {
  await service?.stop()
  await postgres?.end()
  await Promise.all(Object.values(databases ?? {}).map((each) => each.close()))
})

/** Whether the sample is complete and no job works on it, so only requests change tables. */
const isReady = async () => {
  const { rowCount } = await postgres.query(
    `SELECT FROM audiences, list_imports
     WHERE audience_id = $1 AND current_build_id IS NOT NULL AND import_id = $2 AND status = 'completed'
       AND NOT EXISTS (SELECT FROM opt_outs WHERE NOT is_known_to_clickhouse)
       AND NOT EXISTS (SELECT FROM audiences WHERE current_build_id IS NULL)
       AND NOT EXISTS (SELECT FROM audience_builds WHERE status = 'unloading')
       AND NOT EXISTS (SELECT FROM leases WHERE name <> 'hits')`,
    [sampleIdentity.audienceId, sampleIdentity.importId],
  )
  return rowCount! > 0
}

const keyHeaders = () => ({
  'x-api-key': service.demo.test_api_key,
  'x-api-secret': service.demo.test_api_secret,
})

async function ask(name: string) {
  const [method, path] = name.split(' ') as [string, string]
  const { params, query, body } = askedOfSample(name)!
  const url = `${service.url}${path.replace(/:(\w+)/g, (_, parameter) => params[parameter]!)}`
  const answer = await fetch(`${url}?${new URLSearchParams(query)}`, {
    method,
    headers: { ...keyHeaders(), ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  const type = answer.headers.get('content-type') ?? ''
  return {
    status: answer.status,
    mode: answer.headers.get('x-svc-mode'),
    body: type.includes('json') && text ? JSON.parse(text) : text,
  }
}

/** Every operation that a key may call and that is no mere read, by the document: a new one cannot be forgotten. */
const writes = () =>
  [...publicOperations(document)]
    .filter(
      ([name, { security, tags }]) =>
        !name.startsWith('GET') &&
        security?.some((one) => 'key' in one) &&
        !tags?.includes('Ingest'),
    )
    .map(([name, operation]) => ({ name: name.replace(/\{(\w+)\}/g, ':$1'), operation }))

/**
 * Tables that a request of any kind may touch: who asked, background work, and its clocks. A job also writes every minute
 * when it verified a file.
 */
const unrelated = [
  /^api_keys$/,
  /^collectors$/,
  /^(ship_)?leases$/,
  /^hits_progress$/,
  /^rate_limits$/,
  /^pixel_(listening|voices)$/,
  /^audience_builds?$/,
  /^audiences$/,
  /^lists$/,
  /^(daily_)?salts?$/,
]
async function stateOfPostgres(): Promise<Record<string, string>> {
  const { rows } = await postgres.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  )
  const state: Record<string, string> = {}
  for (const { name } of rows.filter(({ name }) => !unrelated.some((table) => table.test(name)))) {
    const found = await postgres.query<{ state: string }>(
      `SELECT count(*) || ' ' || coalesce(md5(string_agg(row, '|' ORDER BY row)), '') AS state
       FROM (SELECT (to_jsonb(t) - $1::text)::text AS row FROM ${name} t) AS rows`,
      [name === 'audience_files' ? 'verified_at' : ''],
    )
    state[name] = found.rows[0]!.state
  }
  const own = await postgres.query<{ state: string }>(
    `SELECT json_build_object('audiences', (SELECT json_agg(audience_id || name ORDER BY 1) FROM (SELECT audience_id::text, name FROM audiences ORDER BY 1) a),
       'lists', (SELECT json_agg(l) FROM (SELECT list_id::text, name FROM lists ORDER BY 1) l),
       'keys', (SELECT json_agg(k) FROM (SELECT key_id::text, role FROM api_keys ORDER BY 1) k))::text AS state`,
  )
  return { ...state, own: own.rows[0]!.state }
}
async function stateOfClickHouse(): Promise<Record<string, unknown>> {
  const state: Record<string, unknown> = {}
  for (const [which, clickhouse] of Object.entries(databases))
    for (const table of ['events', 'rejected_events', 'identity_links', 'list_members', 'profiles'])
      state[`${which}.${table}`] = await clickhouse.rows({
        sql: `SELECT count() AS count FROM ${table}`,
        params: {},
      })
  return state
}

test('every write is answered as a live one, and changes nothing in PostgreSQL and ClickHouse', async () => {
  const errorsOf = openValidator(document)
  await waitFor('the end of the background work', async () => {
    const first = JSON.stringify(await stateOfPostgres())
    await delay(1_000)
    return first === JSON.stringify(await stateOfPostgres())
  })
  const before = [await stateOfPostgres(), await stateOfClickHouse()]
  const operations = writes()
  expect(operations.length).toBeGreaterThan(50)
  const wrong: unknown[] = []
  for (const { name, operation } of operations) {
    if (!askedOfSample(name)) wrong.push({ name, problem: 'has no sample' })
    if (!askedOfSample(name)) continue
    const { status, mode, body } = await ask(name)
    const expected =
      sampleRefusals[name] ?? Number(Object.keys(operation.responses).find((one) => one < '300'))
    const schema = operation.responses[status]?.content?.['application/json']?.schema
    const errors = schema ? errorsOf(placeOfAnswer(name, status), body) : null
    if (status !== expected || mode !== 'test' || errors)
      wrong.push({ name, status, expected, mode, body, errors })
  }
  expect(wrong).toEqual([])
  expect([await stateOfPostgres(), await stateOfClickHouse()]).toEqual(before)
}, 600_000)

test('a record that a test key made is read as a record of the sample', async () => {
  const made = await ask('POST /api/v1/campaigns')
  expect(made.body.campaign).toMatchObject({
    campaign_id: sampleIdentity.campaignId,
    name: 'Another',
  })
  const found = await fetch(`${service.url}/api/v1/campaigns/${made.body.campaign.campaign_id}`, {
    headers: keyHeaders(),
  })
  expect([
    found.status,
    ((await found.json()) as { campaign: { name: string } }).campaign.name,
  ]).toEqual([200, 'Mugs for mornings'])
})

test('a test key names its own project in a body, and is refused what a live key is', async () => {
  const create = (body: object) =>
    fetch(`${service.url}/api/v1/campaigns`, {
      method: 'POST',
      headers: { ...keyHeaders(), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const { project_id } = service.demo
  const own = await create({ project_id, name: 'Own', status: 'draft', start_date: '2026-01-01' })
  expect([
    own.status,
    ((await own.json()) as { campaign: { project_id: string } }).campaign.project_id,
  ]).toEqual([201, project_id])
  expect(
    (await create({ project_id, name: 'Own', status: 'no such', start_date: '2026-01-01' })).status,
  ).toBe(400)
  expect(
    (
      await create({
        project_id: randomUUID(),
        name: 'Other',
        status: 'draft',
        start_date: '2026-01-01',
      })
    ).status,
  ).toBe(404)
})
