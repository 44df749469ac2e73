import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Job, type Queue, wakeQueue } from '../../collector/platform/jobs/queue.ts'
import { type Jobs, startJobs } from '../../collector/platform/jobs/startJobs.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { openPostgres, type Postgres } from '../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../harness/databases.ts'
import { startPostgresProxy } from '../harness/postgresProxy.ts'
import { waitFor } from '../harness/service.ts'

let postgresUrl: string
let postgres: Postgres
const running: Jobs[] = []
const pools: Postgres[] = []

beforeEach(async () => {
  postgresUrl = await newPostgresDatabase()
  postgres = openPool(postgresUrl)
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((jobs) => jobs.stop()))
  await Promise.all(pools.splice(0).map((pool) => pool.end()))
})

const openPool = (url: string): Postgres => {
  const pool = openPostgres(url, () => {})
  pools.push(pool)
  return pool
}

/** Starts queues as a primary of its own would. */
async function startPrimary(
  queues: Queue[],
  url = postgresUrl,
  warnings: object[] = [],
): Promise<Jobs> {
  const jobs = await startJobs({
    postgres: openPool(url),
    postgresUrl: url,
    queues,
    log: { warn: (fields, message) => warnings.push({ ...fields, message }) },
  })
  running.push(jobs)
  return jobs
}

/** Never by itself while a test runs. */
const onceAYear = '0 0 1 1 *'
const never = new Promise<void>(() => {})

test('a queue runs when the primary starts, and at once when a transaction that woke it commits', async () => {
  let runs = 0
  await startPrimary([{ name: 'test.wake', schedule: onceAYear, run: async () => void runs++ }])
  await waitFor('the first run', () => runs === 1)
  const client = await postgres.connect()
  await client.query('BEGIN')
  await wakeQueue(client, 'test.wake')
  await startPrimary([{ name: 'test.other', schedule: onceAYear, run: async () => {} }])
  expect(runs).toBe(1)
  await client.query('COMMIT')
  client.release()
  // Well within the time in which it would be found by polling.
  await waitFor('the second run', () => runs === 2, 4_000)
})

test('a primary leaves the schedules of queues that only another one has', async () => {
  const run = async () => {}
  const scheduled = async () =>
    (
      await postgres.query<{ name: string }>(
        "SELECT name FROM pgboss.schedule WHERE name LIKE 'test.only%' ORDER BY name",
      )
    ).rows.map(({ name }) => name)
  await startPrimary([{ name: 'test.only.one', schedule: onceAYear, run }])
  await startPrimary([{ name: 'test.only.two', schedule: onceAYear, run }])
  expect(await scheduled()).toEqual(['test.only.one', 'test.only.two'])
  await startPrimary([{ name: 'test.only.one', run }])
  expect(await scheduled()).toEqual(['test.only.two'])
})

test('what is announced while a job runs has it run once more, however often', async () => {
  const release: (() => void)[] = []
  const run = () => new Promise<void>((resolve) => release.push(resolve))
  let lastRuns = 0
  const noteLast = async () => {
    lastRuns++
  }
  await startPrimary([
    { name: 'test.busy', schedule: onceAYear, run },
    { name: 'test.last', schedule: onceAYear, run: noteLast },
  ])
  await waitFor('the first runs', () => release.length === 1 && lastRuns === 1)
  for (let times = 0; times < 5; times++) await wakeQueue(postgres, 'test.busy')
  // Announcements come in order: once this one ran, none of the five is still to be heard.
  await wakeQueue(postgres, 'test.last')
  await waitFor('the last announcement', () => lastRuns === 2)
  await waitFor('the one that waits', async () => (await statesOf('test.busy')).includes('created'))
  release[0]!()
  await waitFor('the second run', () => release.length === 2)
  expect(await statesOf('test.busy')).toEqual(['completed', 'active'])
  release[1]!()
})

const statesOf = async (queue: string): Promise<string[]> =>
  (
    await postgres.query<{ state: string }>(
      'SELECT state::text FROM pgboss.job WHERE name = $1 ORDER BY created_on',
      [queue],
    )
  ).rows.map(({ state }) => state)

test('a queue that asks for another run has one, however often it was woken in between', async () => {
  const startedAt: number[] = []
  const run = async () => {
    startedAt.push(performance.now())
    return { againInSeconds: 0.25 }
  }
  await startPrimary([{ name: 'test.again', schedule: onceAYear, run }])
  for (let woken = 1; woken <= 10; woken++) {
    await waitFor('a run', () => startedAt.length >= woken)
    await wakeQueue(postgres, 'test.again')
  }
  // The run after the last notification may still come at once.
  const settled = startedAt.length + 3
  await waitFor('further runs', () => startedAt.length >= settled + 4)
  const pauses = startedAt.slice(settled).map((at, index) => at - startedAt[settled + index - 1]!)
  for (const pause of pauses) expect(pause).toBeGreaterThan(240)
})

test('of two primaries, one runs the jobs of a key, others run those of other keys', async () => {
  const active = new Map<string, number>()
  const overlaps: string[] = []
  const ran: string[] = []
  const queues: Queue[] = [
    {
      name: 'test.keys',
      async run({ key }) {
        active.set(key!, (active.get(key!) ?? 0) + 1)
        if (active.get(key!)! > 1) overlaps.push(key!)
        await new Promise((resolve) => setTimeout(resolve, 20))
        active.set(key!, active.get(key!)! - 1)
        ran.push(key!)
        return ran.filter((each) => each === key).length < 5 ? { againInSeconds: 0 } : undefined
      },
    },
    {
      name: 'test.plan',
      schedule: onceAYear,
      async run({ send }) {
        for (const key of ['a', 'b', 'c']) await send('test.keys', key)
      },
    },
  ]
  await startPrimary(queues)
  await startPrimary(queues)
  await waitFor(
    'all steps of all keys',
    () => ['a', 'b', 'c'].every((key) => ran.filter((k) => k === key).length >= 5),
    60_000,
  )
  expect(overlaps).toEqual([])
})

test('a job that throws is retried; one that goes on throwing fails with its error', async () => {
  let tries = 0
  const warnings: object[] = []
  const queue: Queue = {
    name: 'test.broken',
    schedule: onceAYear,
    retryLimit: 1,
    async run() {
      tries++
      throw new Error('the disk is full')
    },
  }
  await startPrimary([queue], postgresUrl, warnings)
  await waitFor('its end', async () => (await statesOf('test.broken')).includes('failed'), 60_000)
  expect(tries).toBe(2)
  expect(warnings).toEqual([
    {
      queue: 'test.broken',
      error: 'the disk is full',
      message: 'a job failed and will be retried',
    },
  ])
  const { rows } = await postgres.query(
    `SELECT output ->> 'message' AS error FROM pgboss.job WHERE name = 'test.broken'`,
  )
  expect(rows).toEqual([{ error: 'the disk is full' }])
})

test('while a store is away a job is tried again and again, and uses up none of its tries', async () => {
  let tries = 0
  const queue: Queue = {
    name: 'test.store',
    schedule: onceAYear,
    retryLimit: 1,
    async run() {
      tries++
      if (tries <= 4)
        throw Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:8123'), {
          code: 'ECONNREFUSED',
        })
      if (tries === 5) throw new Error('the disk is full')
    },
  }
  await startPrimary([queue])
  await waitFor('its last try', async () => tries >= 6, 120_000)
  await waitFor('its end', async () => !(await statesOf(queue.name)).includes('active'))
  expect(await statesOf(queue.name)).not.toContain('failed')
})

test('a job whose process was killed is retried by another', async () => {
  const child = spawn(
    process.execPath,
    [join(packageRoot, 'test/stores/hangingJob.ts'), postgresUrl, 'test.killed'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
  let runs = 0
  await startPrimary([{ name: 'test.killed', schedule: onceAYear, run: async () => void runs++ }])
  await waitFor(
    'the retry',
    async () => runs > 0 && !(await statesOf('test.killed')).includes('active'),
    90_000,
  )
}, 600_000)

test('a job that repeats its work ends when the process begins to stop', async () => {
  let isRunning = false
  const run = async ({ stopping }: Job) => {
    isRunning = true
    await once(stopping, 'abort')
    isRunning = false
  }
  const jobs = await startPrimary([{ name: 'test.repeats', schedule: onceAYear, run }])
  await waitFor('the run', () => isRunning)
  await jobs.stop()
  expect(isRunning).toBe(false)
})

test('a job that is under way when the process stops is retried by the next', async () => {
  const queue = { name: 'test.stopped', schedule: onceAYear }
  let hasBegun = false
  const begin = () => {
    hasBegun = true
    return never
  }
  const jobs = await startPrimary([{ ...queue, run: begin }])
  await waitFor('its begin', () => hasBegun)
  await jobs.stop()
  running.length = 0
  expect(await statesOf(queue.name)).toContain('retry')
  let runs = 0
  await startPrimary([{ ...queue, run: async () => void runs++ }])
  await waitFor('the retry', () => runs > 0, 30_000)
})

test('while PostgreSQL is away nothing crashes; afterwards every scheduled queue runs', async () => {
  const proxy = await startPostgresProxy(postgresUrl, 'nothing')
  let runs = 0
  const warnings: object[] = []
  await startPrimary(
    [{ name: 'test.away', schedule: onceAYear, run: async () => void runs++ }],
    proxy.url,
    warnings,
  )
  await waitFor('the first run', () => runs === 1)
  await proxy.refuse()
  await waitFor('a failed look', () => warnings.length > 0, 30_000)
  await proxy.accept()
  await waitFor('the next run', () => runs > 1, 30_000)
})
