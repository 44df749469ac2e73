import type { Queue } from '../../platform/jobs/queue.ts'
import { carryOutErasures, type ErasureDeps } from './erasures.ts'
import { privacyRequests, syncToClickHouse } from './optOuts.ts'
import { deleteExpired } from './retention.ts'

/** Interval between the runs of an unfinished erasure. */
const eraseAgainSeconds = 3

/** The background work of privacy: the opt-out list, erasures, and how long pixels' events are kept. */
export const privacyQueues = (deps: ErasureDeps): Queue[] => [
  {
    name: privacyRequests,
    schedule: '* * * * *',
    async run() {
      // Opt-outs first: a person's browsers are found by links, which an erasure deletes.
      while (await syncToClickHouse(deps.postgres, deps.clickhouse));
      return (await carryOutErasures(deps)) ? { againInSeconds: eraseAgainSeconds } : undefined
    },
  },
  {
    name: 'privacy.retention',
    schedule: '0 * * * *',
    timeoutSeconds: 3_600,
    run: () => deleteExpired(deps.postgres, deps.clickhouse),
  },
]
