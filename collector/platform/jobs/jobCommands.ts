import type { Postgres } from '../postgres/pool.ts'
import { StartError } from '../startError.ts'
import { wakeQueue } from './queue.ts'
import { openBoss } from './startJobs.ts'

interface QueueState {
  name: string
  waiting: number
  active: number
  retrying: number
  failed: number
}

interface TroubledJob {
  id: string
  name: string
  key: string | null
  state: 'retry' | 'failed'
  tries: number
  error: string | null
  at: Date
}

/**
 * Prints the queues with their jobs by state, then every failed job and every job that waits for a retry
 * (`npx footfall-server jobs`).
 */
export async function listJobs(postgres: Postgres): Promise<void> {
  await requireSchema(postgres)
  const { rows: queues } = await postgres.query<QueueState>(
    `SELECT queue.name, count(*) FILTER (WHERE state = 'created')::int AS waiting,
       count(*) FILTER (WHERE state = 'active')::int AS active,
       count(*) FILTER (WHERE state = 'retry')::int AS retrying,
       count(*) FILTER (WHERE state = 'failed')::int AS failed
     FROM pgboss.queue LEFT JOIN pgboss.job USING (name)
     WHERE queue.name NOT LIKE '\\_\\_pgboss%' GROUP BY queue.name ORDER BY queue.name`,
  )
  const width = Math.max(...queues.map(({ name }) => name.length))
  for (const { name, waiting, active, retrying, failed } of queues) {
    console.log(
      `${name.padEnd(width)}  ${waiting} waiting, ${active} active, ${retrying} to retry, ${failed} failed`,
    )
  }
  const { rows: jobs } = await postgres.query<TroubledJob>(
    `SELECT id, name, singleton_key AS key, state, retry_count + 1 AS tries,
       coalesce(output ->> 'message', output ->> 'value') AS error, coalesce(completed_on, started_on) AS at
     FROM pgboss.job WHERE state IN ('retry', 'failed') ORDER BY at`,
  )
  for (const { id, name, key, state, tries, error, at } of jobs) {
    const of = key === null ? name : `${name} ${key}`
    const outcome = state === 'failed' ? 'failed' : 'will be retried'
    console.log(
      `\n${id}  ${of}\n  ${outcome} after ${tries} of its tries, ${at.toISOString()}: ${error ?? 'no reason'}`,
    )
  }
}

/** Retries a failed job, or all failed jobs of a queue (`npx footfall-server jobs retry`). */
export async function retryJobs(
  postgres: Postgres,
  { id, queue }: { id?: string | undefined; queue?: string | undefined },
): Promise<void> {
  if ((id === undefined) === (queue === undefined))
    throw new StartError('name a job or, with --queue, a queue')
  await requireSchema(postgres)
  // Only one job of a key can wait for a retry. The latest one replaces the others.
  const { rows: jobs } = await postgres.query<{ id: string; name: string }>(
    `SELECT DISTINCT ON (name, coalesce(singleton_key, '')) id, name FROM pgboss.job AS failed
     WHERE state = 'failed' AND (id::text = $1 OR name = $2) AND NOT EXISTS (
       SELECT FROM pgboss.job WHERE name = failed.name AND state = 'retry'
         AND coalesce(singleton_key, '') = coalesce(failed.singleton_key, ''))
     ORDER BY name, coalesce(singleton_key, ''), created_on DESC`,
    [id, queue],
  )
  if (jobs.length === 0) {
    throw new StartError(
      id ? `there is no failed job ${id}` : `the queue ${queue} has no failed jobs`,
    )
  }
  const boss = openBoss(postgres, { supervise: false, schedule: false })
  boss.on('error', () => {})
  await boss.start()
  for (const job of jobs) {
    await boss.retry(job.name, job.id)
    await wakeQueue(postgres, job.name)
  }
  await boss.stop({ graceful: false, close: false })
  console.log(jobs.length === 1 ? '1 job will be retried' : `${jobs.length} jobs will be retried`)
}

async function requireSchema(postgres: Postgres): Promise<void> {
  const { rows } = await postgres.query<{ is_there: boolean }>(
    `SELECT to_regclass('pgboss.job') IS NOT NULL AS is_there`,
  )
  if (!rows[0]!.is_there)
    throw new StartError('no background jobs exist yet: start the service first')
}
