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
   * a primary starts, when PostgreSQL is back, and by wakeQueue. Absent: only sent jobs run.
   */
  schedule?: string
  /** How long one run may take before it counts as failed; at least 1, default 300. */
  timeoutSeconds?: number
  /**
   * How often a failed run is retried, with back-off up to a minute; default 5. Retries without a store do
   * not count.
   */
  retryLimit?: number
  /** How many of these one primary runs at a time; default 1. */
  concurrency?: number
  // biome-ignore lint/suspicious/noConfusingVoidType: most queues' functions return nothing.
  run(job: Job): Promise<Again | void>
}

export interface Job {
  /** Which of a queue's several works this is: those of one key run one after another. Null in a scheduled run. */
  key: string | null
  /** Whether it counts as failed when this run throws, and is not retried. */
  isLastTry: boolean
  /** Aborts when time is up or the process stops. */
  signal: AbortSignal
  /** Adds a job; nothing is added while one of that key waits. */
  send: SendJob
}

/** There is more to do. After 0 seconds the next job is stored before this one ends; later ones a crash forgets. */
export interface Again {
  againInSeconds: number
}

export type SendJob = (queue: string, key: string) => Promise<void>

/** Where primaries hear that there is work. */
export const jobsChannel = 'footfall_jobs'

/** Has a queue run at once, as soon as the transaction of `client` commits. */
export async function wakeQueue(client: Queryable, queue: string): Promise<void> {
  await client.query('SELECT pg_notify($1, $2)', [jobsChannel, queue])
}
