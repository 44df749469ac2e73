import { setTimeout as delay } from 'node:timers/promises'
import type { Queue } from '../../platform/jobs/queue.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { type MatchDeps, matchVisits } from './matchVisits.ts'
import { reportMatches } from './reportMatches.ts'

export const visitsQueue = 'visits.match'

/** Time between two passes, which is part of the ten seconds until a message. */
const passMs = 1_000
/** A job ends before the next minute starts another one. */
const jobMs = 55_000
/** The days whose matches a rule counts. */
const keptDays = 7

/** The background jobs of visit alerts. They read shipped events, so a beacon never waits. */
export const visitAlertQueues = (deps: MatchDeps): Queue[] => [
  {
    name: visitsQueue,
    schedule: '* * * * *',
    timeoutSeconds: 120,
    async run({ signal }) {
      const until = performance.now() + jobMs
      while (performance.now() < until && !signal.aborted) {
        if (!(await hasWork(deps.postgres))) return
        await matchVisits(deps, deps.now(), signal)
        await reportMatches(deps, signal)
        await delay(passMs, undefined, { signal }).catch(() => {})
      }
    },
  },
  {
    name: 'visits.delete-expired',
    schedule: '35 * * * *',
    async run() {
      await deps.postgres.query(
        "DELETE FROM visit_alert_matches WHERE day <= (now() AT TIME ZONE 'UTC')::date - $1::int",
        [keptDays],
      )
    },
  },
]

async function hasWork(postgres: Postgres): Promise<boolean> {
  const { rows } = await postgres.query<{ has_work: boolean }>(
    `SELECT EXISTS (SELECT FROM visit_alerts WHERE active)
       OR EXISTS (SELECT FROM visit_alert_matches WHERE event_id IS NOT NULL) AS has_work`,
  )
  return rows[0]!.has_work
}
