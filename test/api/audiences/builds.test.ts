/** Builds as the service does them: asked for, run as jobs, repeated, refreshed, dropped. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import {
  audienceQueues,
  dropBuilds,
  requestDueBuilds,
} from '../../../collector/audiences/audienceJobs.ts'
import { buildNow } from '../../../collector/audiences/builder/buildNow.ts'
import { readStoredBuilds } from '../../../collector/audiences/builder/memberStore.ts'
import { requestBuild } from '../../../collector/audiences/builds.ts'
import { createAllowance } from '../../../collector/billing/allowance.ts'
import type { ClickHouse } from '../../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../../collector/platform/clickhouse/openClickHouse.ts'
import { withLease } from '../../../collector/platform/postgres/lease.ts'
import { openPostgres, type Postgres } from '../../../collector/platform/postgres/pool.ts'
import { runNextTo } from '../../harness/commands.ts'
import { randomName } from '../../harness/databases.ts'
import { jobOf } from '../../harness/job.ts'
import { type Answering, waitFor } from '../../harness/service.ts'
import { openTenant } from '../../harness/sharedApp.ts'

/** Where the people work: other files store people too. */
const [domain, otherDomain] = [`${randomName()}.example`, `${randomName()}.example`]

let service: Answering
let postgres: Postgres
let clickhouse: ClickHouse
let stores: Record<'live' | 'test', ClickHouse>
beforeAll(async () => {
  const tenant = await openTenant()
  service = tenant.service
  postgres = openPostgres(tenant.env.DATABASE_URL!, () => {})
  clickhouse = openClickHouse(tenant.env.CLICKHOUSE_URL!, tenant.env.CLICKHOUSE_DATABASE!)
  stores = { live: clickhouse, test: clickhouse }
  await clickhouse.command({
    sql: `INSERT INTO profiles (hem, first_name, company_domain)
          SELECT lower(hex(SHA256(concat(toString(number), {domain:String})))), concat('N', toString(number)), if(number < 30, {domain:String}, {otherDomain:String})
          FROM numbers(56)`,
    params: { domain, otherDomain },
  })
}, 600_000)
afterAll(async () => {
  await Promise.all([postgres?.end(), clickhouse?.close()])
  await service?.stop()
})

const definition = {
  entity: 'people',
  include: { profile: { field: 'company_domain', op: 'eq', value: domain } },
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read as a client without our types would.
async function ask(path: string, options: { method?: string; body?: unknown } = {}): Promise<any> {
  const { api_key, api_secret, project_id } = service.demo
  const answer = await fetch(`${service.url}/api/v1/audiences${path}`, {
    method: options.method ?? 'GET',
    headers: {
      'x-api-key': api_key,
      'x-api-secret': api_secret,
      'x-project-id': project_id,
      ...(options.body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(options.body !== undefined && { body: JSON.stringify(options.body) }),
  })
  const body = answer.status === 204 ? null : await answer.json()
  if (!answer.ok) throw new Error(`${answer.status} ${JSON.stringify(body)}`)
  return body
}

const create = async (more: object = {}): Promise<string> =>
  (await ask('', { method: 'POST', body: { name: 'At Acme', definition, ...more } })).audience.id

const completed = (id: string) =>
  waitFor(
    'the build',
    async () => {
      const status = await ask(`/${id}/status`)
      return status.status === 'completed' ? status : null
    },
    60_000,
  )

test('a new audience is built at once; its status tells how far', async () => {
  const id = await create()
  expect(await completed(id)).toEqual({
    id,
    status: 'completed',
    progress: 1,
    updated_at: expect.stringMatching(/^2.*Z$/),
  })
  expect((await ask(`/${id}`)).audience).toMatchObject({ count: 30, status: 'completed' })
})

test('a changed definition is built anew; until then the build before is served', async () => {
  const id = await create()
  await completed(id)
  const before = (await ask(`/${id}`)).audience
  const include = { profile: { field: 'company_domain', op: 'eq', value: otherDomain } }
  const changed = await ask(`/${id}`, {
    method: 'PATCH',
    body: { definition: { ...definition, include } },
  })
  expect(changed.audience).toMatchObject({ count: 30, build_id: before.build_id })
  await waitFor('the new build', async () => (await ask(`/${id}`)).audience.count === 26, 60_000)
})

test('npx footfall-server audiences build ID builds and says how many there are', async () => {
  const id = await create()
  await completed(id)
  const run = (audienceId: string) => runNextTo(service.dataDir, ['audiences', 'build', audienceId])
  const { code, output } = await run(id)
  expect(code).toBe(0)
  expect(output).toMatch(/^30 members: build [0-9a-f-]{36}$/m)
  expect(await run('nothing')).toEqual({
    code: 1,
    output: 'footfall: there is no audience nothing\n',
  })
})

test('a build that was asked for several times at once is one; two that run it at once store its members once', async () => {
  const id = await create()
  await completed(id)
  // Not by the service: its primary must not take it.
  const { rows } = await postgres.query<{ build_id: string }>(
    `INSERT INTO audience_builds (build_id, audience_id, definition, intent_window_days, status)
     SELECT gen_random_uuid(), audience_id, definition, 30, 'unloading' FROM audiences WHERE audience_id = $1
     RETURNING build_id`,
    [id],
  )
  const buildId = rows[0]!.build_id
  const both = await Promise.allSettled([
    buildNow({ postgres, clickhouse: stores }, buildId),
    buildNow({ postgres, clickhouse: stores }, buildId),
  ])
  if (both.every(({ status }) => status === 'rejected'))
    await buildNow({ postgres, clickhouse: stores }, buildId)
  await waitFor('the end', async () => (await stateOf(buildId)) === 'completed')
  expect(await membersOf(buildId)).toBe(30)

  const asked = await Promise.all(Array.from({ length: 5 }, () => requestBuild(postgres, id)))
  await completed(id)
  expect(new Set(asked).size).toBeLessThan(5)
})

const stateOf = async (buildId: string): Promise<string> =>
  (
    await postgres.query<{ status: string }>(
      'SELECT status FROM audience_builds WHERE build_id = $1',
      [buildId],
    )
  ).rows[0]!.status

const membersOf = async (buildId: string): Promise<number> =>
  Number(
    (
      await clickhouse.rows<{ n: number }>({
        sql: 'SELECT count() AS n FROM audience_members WHERE build_id = {buildId:UUID}',
        params: { buildId },
      })
    )[0]!.n,
  )

test('a build that fails for good says so, and the one before is still served', async () => {
  const id = await create()
  await completed(id)
  // The service runs three builds of an organization at a time: while it waits for these, it leaves ours to us.
  const waiting = await Promise.all([1, 2, 3].map(() => addBuild(id)))
  const end = new AbortController()
  const ended = new Promise((resolve) => end.signal.addEventListener('abort', resolve))
  const held = Promise.all(waiting.map((each) => withLease(postgres, each, () => ended, 30_000)))
  await setStatus(waiting, 'unloading')
  const buildId = await addBuild(id)
  await setStatus([buildId], 'unloading')
  // A ClickHouse that is away is waited for, by the last try of the job, too.
  await expect(runJob('http://127.0.0.1:1', buildId, true)).rejects.toThrow()
  expect(await stateOf(buildId)).toBe('unloading')
  // One that answers, and cannot do it.
  await expect(runJob(inject('clickhouseUrl'), buildId, false)).rejects.toThrow()
  expect(await stateOf(buildId)).toBe('unloading')
  await expect(runJob(inject('clickhouseUrl'), buildId, true)).rejects.toThrow()
  expect(await ask(`/${id}/status`)).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('failed'),
  })
  expect((await ask(`/${id}`)).audience).toMatchObject({ count: 30, status: 'failed' })
  await expect(ask(`/${id}/builds/${buildId}/changes`)).rejects.toThrow(
    `The build ${buildId} is not completed.`,
  )
  await setStatus(waiting, 'failed')
  end.abort()
  await held
})

/** Adds a build that nobody runs. */
async function addBuild(audienceId: string): Promise<string> {
  const { rows } = await postgres.query<{ build_id: string }>(
    `INSERT INTO audience_builds (build_id, audience_id, definition, intent_window_days, status)
     SELECT gen_random_uuid(), audience_id, definition, 30, 'failed' FROM audiences WHERE audience_id = $1
     RETURNING build_id`,
    [audienceId],
  )
  return rows[0]!.build_id
}

const setStatus = (buildIds: readonly string[], status: string) =>
  postgres.query('UPDATE audience_builds SET status = $2 WHERE build_id = ANY($1)', [
    buildIds,
    status,
  ])

/** Runs the job of a build with a ClickHouse that has none of our tables. */
async function runJob(clickhouseUrl: string, buildId: string, isLastTry: boolean): Promise<void> {
  const other = openClickHouse(clickhouseUrl, 'nowhere')
  const queue = audienceQueues({
    postgres,
    clickhouse: { live: other, test: other },
    log: { warn: () => {} },
    allowance: createAllowance({ postgres, perDay: 2_000, now: Date.now }),
  }).find(({ name }) => name === 'audiences.build')!
  try {
    await queue.run(jobOf(buildId, isLastTry))
  } finally {
    await other.close()
  }
}

test('audiences are refreshed when an hour or a day has begun, once, also after a failed build', async () => {
  const ids = {
    hourly: await create({ refresh: 'hourly' }),
    daily: await create({ refresh: 'daily' }),
    failed: await create({ refresh: 'daily' }),
  }
  const manual = await create()
  for (const id of [...Object.values(ids), manual]) await completed(id)
  const builds = async (id: string) =>
    (await postgres.query('SELECT FROM audience_builds WHERE audience_id = $1', [id])).rowCount
  await postgres.query(
    `UPDATE audience_builds SET requested_at = requested_at - interval '25 hours',
       status = CASE WHEN audience_id = $2 THEN 'failed' ELSE status END WHERE audience_id = ANY($1)`,
    [[...Object.values(ids), manual], ids.failed],
  )
  await requestDueBuilds(postgres)
  await requestDueBuilds(postgres)
  for (const id of Object.values(ids)) {
    await completed(id)
    expect(await builds(id)).toBe(2)
  }
  expect(await builds(manual)).toBe(1)
})

test('members of builds that nobody refers to are dropped; those that are served, and the last ones, stay', async () => {
  const id = await create()
  await completed(id)
  for (let times = 0; times < 4; times++) {
    await requestBuild(postgres, id)
    await completed(id)
  }
  const gone = await create()
  await completed(gone)
  const goneBuild: string = (await ask(`/${gone}`)).audience.build_id
  await postgres.query(
    `UPDATE audience_builds SET updated_at = now() - interval '2 days' WHERE audience_id = $1`,
    [id],
  )
  await ask(`/${gone}`, { method: 'DELETE' })
  const stored = async () => new Set(await readStoredBuilds(clickhouse))
  expect(await stored()).toContain(goneBuild)
  await dropBuilds({ postgres, clickhouse: stores })
  const { rows } = await postgres.query<{ build_id: string; members_kept: boolean }>(
    'SELECT build_id, members_kept FROM audience_builds WHERE audience_id = $1 ORDER BY number',
    [id],
  )
  expect(rows.map(({ members_kept }) => members_kept)).toEqual([false, false, true, true, true])
  const after = await stored()
  expect(rows.filter(({ build_id }) => after.has(build_id)).length).toBe(3)
  expect(after).not.toContain(goneBuild)
  const changes = (build: string) => ask(`/${id}/builds/${build}/changes`)
  await expect(changes(rows[0]!.build_id)).rejects.toThrow(
    `"message":"The members of build ${rows[0]!.build_id} were deleted. Choose a newer build: GET /api/v1/audiences/${id}/builds lists them."`,
  )
  expect(await changes(rows[4]!.build_id)).toMatchObject({ build_id: rows[4]!.build_id })
})
