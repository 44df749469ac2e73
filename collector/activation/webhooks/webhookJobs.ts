import type { Queue } from '../../platform/jobs/queue.ts'
import { outboxQueue } from '../../platform/outbox/outbox.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { dispatchMessages, secondsUntilDue } from './claim.ts'
import type { Deliverer } from './deliverer.ts'

const keptDays = 30

/** The background jobs of webhooks: dispatch messages, start due deliveries, delete old ones. */
export const webhookQueues = (postgres: Postgres, deliverer: Deliverer): Queue[] => [
  {
    name: outboxQueue,
    schedule: '* * * * *',
    async run() {
      const hasMore = await dispatchMessages(postgres)
      await deliverer.begin()
      if (hasMore) return { againInSeconds: 0 }
      const seconds = await secondsUntilDue(postgres)
      // A due delivery beyond the limit starts when another one ends.
      return seconds !== null && seconds < 60 ? { againInSeconds: Math.ceil(seconds) } : undefined
    },
  },
  {
    name: 'outbox.delete-expired',
    schedule: '25 * * * *',
    async run() {
      await postgres.query(
        "DELETE FROM outbox_messages WHERE created_at < now() - $1 * interval '1 day'",
        [keptDays],
      )
    },
  },
]
