import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPostgres, type Postgres } from '../../../../collector/platform/postgres/pool.ts'
import { runNextTo } from '../../../harness/commands.ts'
import { type Answering, waitFor } from '../../../harness/service.ts'
import { openTenant } from '../../../harness/sharedApp.ts'

let service: Answering
let postgres: Postgres
beforeAll(async () => {
  const shared = await openTenant()
  service = shared.service
  postgres = openPostgres(shared.env.DATABASE_URL!, () => {})
}, 600_000)
afterAll(async () => {
  await postgres.end()
  await service.stop()
})

const footfall = (...args: string[]) => runNextTo(service.dataDir, ['jobs', ...args])

const queue = 'admin.delete-expired'

/** Makes a job of the queue one that failed for good, as a release with a fault would have left it. */
async function failOne(): Promise<string> {
  const { rows } = await waitFor('a run', async () => {
    const found = await postgres.query<{ id: string }>(
      `UPDATE pgboss.job SET state = 'failed', output = '{"message": "the disk is full"}'
       WHERE id = (SELECT id FROM pgboss.job WHERE name = $1 AND state = 'completed' LIMIT 1) RETURNING id`,
      [queue],
    )
    return found.rowCount === 1 ? found : null
  })
  return rows[0]!.id
}

const stateOf = async (id: string): Promise<string> =>
  (await postgres.query<{ state: string }>('SELECT state FROM pgboss.job WHERE id = $1', [id]))
    .rows[0]!.state

test('every queue is listed, with the jobs that failed and why; a retry completes', async () => {
  const id = await failOne()
  const { code, output } = await footfall()
  expect(code).toBe(0)
  for (const name of [
    'admin.event-deletions',
    'privacy.requests',
    'privacy.retention',
    'billing.usage-reports',
  ])
    expect(output).toContain(name)
  expect(output).toMatch(/admin\.delete-expired +\d+ waiting, \d+ active, \d+ to retry, 1 failed/)
  expect(output).toMatch(new RegExp(`${id} {2}${queue}\n {2}failed after 1 .*: the disk is full\n`))

  expect(await footfall('retry', id)).toEqual({ code: 0, output: '1 job will be retried\n' })
  await waitFor('the retry', async () => (await stateOf(id)) === 'completed', 30_000)
})

test('all failed jobs of a queue are retried by its name', async () => {
  const id = await failOne()
  expect((await footfall('retry', '--queue', queue)).output).toBe('1 job will be retried\n')
  await waitFor('the retry', async () => (await stateOf(id)) === 'completed', 30_000)
})

test.each([
  [['retry'], 'footfall: name a job or, with --queue, a queue\n'],
  [['retry', 'nothing'], 'footfall: there is no failed job nothing\n'],
  [['retry', '--queue', 'nothing'], 'footfall: the queue nothing has no failed jobs\n'],
])('%j says in one line what is wrong', async (args, said) => {
  expect(await footfall(...args)).toEqual({ code: 1, output: said })
})

test('metrics count the jobs of each queue by state', async () => {
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  for (const state of ['waiting', 'active', 'failed'])
    expect(metrics).toMatch(new RegExp(`footfall_jobs\\{queue="${queue}",state="${state}"\\} \\d`))
})
