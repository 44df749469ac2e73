import type { Queryable } from '../postgres/transaction.ts'

/**
 * A kind of background work. Its tasks are in the area's own tables, written in the transaction that requires
 * them. A job is a short step that reads these. It can be repeated after any crash, and is retried with
 * back-off when it throws.
 */
export interface Queue {
  /** Unique, `area.work`. */
  name: string
  /**
   * When to search for work without a notification, as a cron expression in UTC. Such a queue also runs when
   * a primary starts, when PostgreSQL is available again, and after wakeQueue. Absent: only sent jobs run.
   */
  schedule?: string
  /** The longest run, after which the run fails; at least 1, default 300. */
  timeoutSeconds?: number
  /** With back-off up to a minute; default 5. Retries without a store do not count. */
  retryLimit?: number
  /** How many jobs of this queue one primary runs at a time; default 1. */
  concurrency?: number
  // biome-ignore lint/suspicious/noConfusingVoidType: most queues' functions return nothing.
  run(job: Job): Promise<Again | void>
}

export interface Job {
  /** The key of the job; jobs of one key run one after another. Null in a scheduled run. */
  key: string | null
  /** Whether the job fails for good, without a retry, if this run throws. */
  isLastTry: boolean
  /** Aborts at the time limit, or when the process has waited for the run long enough. */
  signal: AbortSignal
  /** Aborts when the process begins to stop. */
  stopping: AbortSignal
  /** Adds a job, unless a job of that key is already waiting. */
  send: SendJob
}

/** With 0 seconds, the next job is stored before this one ends; a crash loses a later one. */
export interface Again {
  againInSeconds: number
}

type SendJob = (queue: string, key: string) => Promise<void>

export const jobsChannel = 'footfall_jobs'

/** Runs a queue at once, as soon as the transaction of `client` commits. */
export async function wakeQueue(client: Queryable, queue: string): Promise<void> {
  await client.query('SELECT pg_notify($1, $2)', [jobsChannel, queue])
}
