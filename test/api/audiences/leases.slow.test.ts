/**
 * One process at a time builds an audience, under a lease. No transaction of PostgreSQL is open while
 * ClickHouse works. The build of a dead process is taken over, and a process that lost its lease changes
 * nothing.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { audienceQueues } from '../../../collector/audiences/audienceJobs.ts'
import { buildNow } from '../../../collector/audiences/builder/buildNow.ts'
import { requestBuild } from '../../../collector/audiences/builds.ts'
import { packageRoot } from '../../../collector/platform/paths.ts'
import { LeaseHeldError } from '../../../collector/platform/postgres/lease.ts'
import { jobOf } from '../../harness/job.ts'
import { waitFor } from '../../harness/service.ts'
import { openAudiences } from './harness.ts'
import { slowed } from './slowed.ts'

const it = await openAudiences()
afterAll(() => it.close())

const hems = ['ann', 'ben', 'cy'].map((name) => createHash('sha256').update(name).digest('hex'))
const definition = {
  entity: 'people',
  include: { profile: { field: 'company_domain', op: 'eq', value: 'acme.example' } },
}
beforeAll(() => it.know({ profiles: hems.map((hem) => ({ hem, company_domain: 'acme.example' })) }))

test('while ClickHouse works on a build, no session is idle in transaction and no connection is held', async () => {
  const buildId = await requestBuild(it.postgres, await it.create(definition))
  const live = slowed(it.clickhouse.live, 3)
  const building = buildNow({ postgres: it.postgres, clickhouse: { live, test: live } }, buildId)
  let looks = 0
  await waitFor('the insert', () => isInserting(buildId))
  while (await isInserting(buildId)) {
    looks++
    const { rows } = await it.postgres.query(
      `SELECT state, query FROM pg_stat_activity
       WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
    )
    expect(rows).toEqual([])
    // The lease is renewed now and then.
    expect(it.postgres.totalCount - it.postgres.idleCount).toBeLessThanOrEqual(1)
    await delay(100)
  }
  expect(looks).toBeGreaterThan(5)
  expect(await building).toBe(hems.length)
})

test('of two processes that build at once, one publishes one build', async () => {
  const audienceId = await it.create(definition)
  const buildId = await requestBuild(it.postgres, audienceId)
  const live = slowed(it.clickhouse.live, 2)
  const stores = { postgres: it.postgres, clickhouse: { live, test: live } }
  const ended = await Promise.allSettled([1, 2, 3].map(() => buildNow(stores, buildId)))
  const refused = ended.filter((one) => one.status === 'rejected')
  expect(refused.map(({ reason }) => reason)).toEqual([
    expect.any(LeaseHeldError),
    expect.any(LeaseHeldError),
  ])
  await expectBuiltOnce(audienceId, buildId)
})

test('a job that finds its build under way elsewhere waits, and does not fail it, even at its last try', async () => {
  const buildId = await requestBuild(it.postgres, await it.create(definition))
  const live = slowed(it.clickhouse.live, 2)
  const building = buildNow({ postgres: it.postgres, clickhouse: { live, test: live } }, buildId)
  await waitFor('the insert', () => isInserting(buildId))
  const log = { warn: () => {} }
  const { postgres, clickhouse, allowance } = it
  const queues = audienceQueues({ postgres, clickhouse, log, allowance })
  const again = await queues
    .find(({ name }) => name === 'audiences.build')!
    .run(jobOf(buildId, true))
  expect(again).toEqual({ againInSeconds: 5 })
  expect(await building).toBe(hems.length)
})

test.concurrent('a build whose process was killed while ClickHouse inserted is taken over when its lease has expired', async () => {
  const audienceId = await it.create(definition)
  const buildId = await requestBuild(it.postgres, audienceId)
  const child = runSlowly(buildId, 'slow')
  await waitFor('the insert', () => isInserting(buildId), 120_000)
  child.process.kill('SIGKILL')
  await once(child.process, 'exit')
  await expect(buildNow(it, buildId)).rejects.toThrow(LeaseHeldError)
  // The statement of the killed process still runs. It must bring nothing after the new one.
  expect(await isInserting(buildId)).toBe(true)
  expect(await oncePossible(() => buildNow(it, buildId))).toBe(hems.length)
  expect(await isInserting(buildId)).toBe(false)
  await expectBuiltOnce(audienceId, buildId)
})

test.concurrent.each([
  ['inserts the members', 'INSERT INTO audience_members', 'pending'],
  ['deletes the members of an earlier try', 'ALTER TABLE audience_members', 'unloading'],
] as const)(
  'a process that stalls just before it %s, until another has published the build, changes nothing',
  async (_, statement, status) => {
    const audienceId = await it.create(definition)
    const buildId = await requestBuild(it.postgres, audienceId)
    await it.postgres.query('UPDATE audience_builds SET status = $2 WHERE build_id = $1', [
      buildId,
      status,
    ])
    if (status === 'unloading') await storeMember(buildId)
    const child = runSlowly(buildId, statement)
    expect(await child.line()).toBe('about to send')
    child.process.kill('SIGSTOP')
    expect(await oncePossible(() => buildNow(it, buildId))).toBe(hems.length)
    child.process.kill('SIGCONT')
    expect(await child.line()).toMatch(/^failed: (Error|LeaseHeldError) .*lease/)
    await expectBuiltOnce(audienceId, buildId)
  },
)

/** As an earlier try that was killed has left it. */
const storeMember = (buildId: string) =>
  it.clickhouse.live.command({
    sql: `INSERT INTO audience_members (build_id, organization_id, key, hem_number, company_domain)
          SELECT {buildId:UUID}, generateUUIDv4(), 1, 1, ''`,
    params: { buildId },
  })

/** Runs the build in a process of its own (slowBuild.ts). */
function runSlowly(buildId: string, how: string) {
  const { connectionString } = it.postgres.options as { connectionString: string }
  const process: ChildProcessByStdio<null, Readable, null> = spawn(
    globalThis.process.execPath,
    [
      '--experimental-transform-types',
      '--disable-warning=ExperimentalWarning',
      join(packageRoot, 'test/api/audiences/slowBuild.ts'),
      connectionString,
      inject('clickhouseUrl'),
      it.clickhouse.live.database,
      buildId,
      how,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  onTestFinished(() => void process.kill('SIGKILL'))
  const lines = createInterface(process.stdout)[Symbol.asyncIterator]()
  return { process, line: async () => (await lines.next()).value as string | undefined }
}

async function isInserting(buildId: string): Promise<boolean> {
  const [found] = await it.clickhouse.live.rows<{ running: number }>({
    sql: `SELECT count() AS running FROM system.processes
          WHERE query_kind = 'Insert' AND Settings['log_comment'] = {buildId:String}`,
    params: { buildId },
  })
  return found!.running > 0
}

/** Does it as soon as the process that holds the lease has not renewed it for long enough. */
const oncePossible = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch(async (error) => {
    if (!(error instanceof LeaseHeldError)) throw error
    await delay(250)
    return oncePossible(work)
  })

/** The build is served, announced once, and has everybody once. */
async function expectBuiltOnce(audienceId: string, buildId: string): Promise<void> {
  const { rows } = await it.postgres.query(
    `SELECT current_build_id, status, count::int,
       (SELECT count(*)::int FROM outbox_messages WHERE data ->> 'build_id' = audience_builds.build_id::text) AS messages
     FROM audiences JOIN audience_builds USING (audience_id) WHERE audience_id = $1`,
    [audienceId],
  )
  expect(rows).toEqual([
    { current_build_id: buildId, status: 'completed', count: hems.length, messages: 1 },
  ])
  expect([...(await it.membersOf(buildId))].sort()).toEqual([...hems].sort())
}
