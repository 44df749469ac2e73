import { ApiError } from '../../api/http/errors.ts'
import type { Again, Job, Queue } from '../../platform/jobs/queue.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { exportRuns, type RequestDeps, requestRun, unfinished } from './exportRuns.ts'
import { readExport } from './exports.ts'
import type { SendDeps } from './exportsDeps.ts'
import { removeHidden } from './removals.ts'
import { createReadAhead } from './run/readAhead.ts'
import { runStep } from './run/step.ts'

const oneRun = 'exports.run'
/** Time that one job spends on a run before others continue. */
const turnMs = 10_000
/** A run with at most this delay continues in the same job; the schedule finds others. */
const soonSeconds = 60

/** The background jobs of exports: request due runs, send, and remove people who opted out. */
export const exportQueues = (deps: SendDeps): Queue[] => [
  {
    name: exportRuns,
    schedule: '* * * * *',
    async run({ send }) {
      await requestDueRuns(deps)
      for (const runId of await readDueRuns(deps.postgres)) await send(oneRun, runId)
    },
  },
  {
    // One job runs at a time for each run. Unsaved work of a killed job is sent again.
    name: oneRun,
    concurrency: 4,
    timeoutSeconds: 900,
    run: (job) => takeTurn(deps, job),
  },
  { name: 'exports.removals', schedule: '* * * * *', run: () => removeHidden(deps) },
]

async function takeTurn(deps: SendDeps, { key, signal }: Job): Promise<Again | undefined> {
  const until = performance.now() + turnMs
  const turn = { readNext: createReadAhead(deps, signal), signal }
  for (;;) {
    const next = await runStep(deps, key!, turn)
    if (next === null || signal.aborted) return undefined
    if (next.inSeconds > soonSeconds) return undefined
    if (next.inSeconds > 0 || performance.now() > until) return { againInSeconds: next.inSeconds }
  }
}

/** Concurrent runs of an organization, so that slow destinations do not delay other organizations. */
const jobsOfOrganization = 2

/** Reads the due runs with records to send: the first ones of each organization, oldest first. */
async function readDueRuns(postgres: Postgres): Promise<string[]> {
  const { rows } = await postgres.query<{ run_id: string }>(
    `SELECT run_id FROM (
       SELECT run_id, row_number() OVER (PARTITION BY organization_id ORDER BY run_id) AS place
       FROM export_runs JOIN exports USING (export_id) JOIN projects USING (project_id)
       WHERE status IN ${unfinished} AND (stop_reason IS NOT NULL OR coalesce(resumes_at, '-infinity') <= now())
     ) AS due WHERE place <= $1 ORDER BY run_id LIMIT 1000`,
    [jobsOfOrganization],
  )
  return rows.map(({ run_id }) => run_id)
}

/** Requests a run of each export that is due, unless it has no build or a run is in progress. */
async function requestDueRuns(deps: RequestDeps & { postgres: Postgres }): Promise<void> {
  const { postgres } = deps
  const { rows } = await postgres.query<{
    export_id: string
    project_id: string
    organization_id: string
  }>(
    `SELECT export_id, exports.project_id, organization_id
     FROM exports JOIN projects USING (project_id) LEFT JOIN audiences USING (audience_id)
     WHERE schedule <> 'manual' AND (current_build_id IS NOT NULL OR exports.list_id IS NOT NULL) AND NOT EXISTS (
       SELECT FROM export_runs WHERE export_runs.export_id = exports.export_id
         AND (status IN ${unfinished} OR retry_of IS NULL AND requested_at >
           now() - CASE schedule WHEN 'hourly' THEN interval '1 hour' ELSE interval '1 day' END))
     ORDER BY export_id LIMIT 1000`,
  )
  for (const { export_id, project_id, organization_id } of rows) {
    await inTransaction(postgres, async (client) => {
      const scope = { organizationId: organization_id, projectIds: [project_id] }
      await requestRun(deps, client, await readExport(client, scope, export_id), {
        organizationId: organization_id,
        callerId: export_id,
        isProjectKey: false,
        requestId: null,
      })
    }).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error
    })
  }
}
