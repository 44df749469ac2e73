import type { Queue } from '../../platform/jobs/queue.ts'
import { carryOutErasures, type ErasureDeps } from './erasures.ts'
import { removeLinks } from './linkRemovals.ts'
import { privacyRequests, syncToClickHouse } from './optOuts.ts'
import { deleteExpired } from './retention.ts'

/** Interval between runs that delete rows. Erasures that only wait for rows in transit run by the schedule. */
const eraseAgainSeconds = 3

/** The background jobs of privacy: opt-outs, erasures and the retention of pixels' events. */
export const privacyQueues = (deps: ErasureDeps): Queue[] => [
  {
    name: privacyRequests,
    schedule: '* * * * *',
    async run() {
      // Opt-outs run first, because they find a person's browsers by links, which an erasure deletes.
      while (await syncToClickHouse(deps.postgres, deps.clickhouse));
      const left = [await carryOutErasures(deps), await removeLinks(deps)]
      return left.includes(true) ? { againInSeconds: eraseAgainSeconds } : undefined
    },
  },
  {
    name: 'privacy.retention',
    schedule: '0 * * * *',
    timeoutSeconds: 3_600,
    run: () => deleteExpired(deps.postgres, deps.clickhouse),
  },
]
