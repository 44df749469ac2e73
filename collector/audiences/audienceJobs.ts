import type { Allowance } from '../billing/allowance.ts'
import type { EventStores } from '../events/query/eventStores.ts'
import { type Again, type Job, type Queue, wakeQueue } from '../platform/jobs/queue.ts'
import type { WarnLog } from '../platform/log.ts'
import { deleteAbandonedLeases, LeaseHeldError } from '../platform/postgres/lease.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { inTransaction, type Queryable } from '../platform/postgres/transaction.ts'
import { isUnavailable } from '../platform/storeErrors.ts'
import { buildNow } from './builder/buildNow.ts'
import { dropMembers, readStoredBuilds } from './builder/memberStore.ts'
import { MissingReference, readUsedVersions } from './builder/usedObjects.ts'
import { buildsQueue, failBuild, requestBuild } from './builds.ts'
import { parseDefinition } from './definition/parse.ts'

interface AudienceJobsDeps extends EventStores {
  log: WarnLog
  allowance: Pick<Allowance, 'takeForWork'>
}

const oneBuild = 'audiences.build'

/** The background jobs of audiences: request due builds, build, drop unreferenced builds. */
export const audienceQueues = (deps: AudienceJobsDeps): Queue[] => [
  {
    name: buildsQueue,
    schedule: '* * * * *',
    async run({ send }) {
      await requestDueBuilds(deps.postgres)
      for (const buildId of await readUnfinishedBuilds(deps.postgres)) await send(oneBuild, buildId)
    },
  },
  {
    // One job runs at a time for each build. A retry skips the completed work of a killed job.
    name: oneBuild,
    timeoutSeconds: 3_600,
    run: (job) => build(deps, job),
  },
  {
    name: 'audiences.drop-builds',
    schedule: '15 * * * *',
    async run() {
      await dropBuilds(deps)
      await deleteAbandonedLeases(deps.postgres)
    },
  },
]

/** How many builds of an organization are jobs at a time, so that they do not delay other organizations. */
const jobsOfOrganization = 3

/** Pending and running builds, the first ones of each organization in the order of their requests. */
async function readUnfinishedBuilds(client: Queryable): Promise<string[]> {
  const { rows } = await client.query<{ build_id: string }>(
    `SELECT build_id FROM (
       SELECT build_id, number, row_number() OVER (PARTITION BY organization_id ORDER BY number) AS place
       FROM audience_builds JOIN audiences USING (audience_id) JOIN projects USING (project_id)
       WHERE audience_builds.status IN ('pending', 'unloading')
     ) AS waiting WHERE place <= $1 ORDER BY number LIMIT 1000`,
    [jobsOfOrganization],
  )
  return rows.map(({ build_id }) => build_id)
}

/** Delay before a build that another process holds is tried again. */
const heldSeconds = 5

/**
 * Builds, or continues a killed job. Failures are retried, and reported in `status` after the last try.
 * Without a store the build waits.
 */
async function build(
  { postgres, clickhouse, log, allowance }: AudienceJobsDeps,
  job: Job,
): Promise<Again | undefined> {
  try {
    await inTransaction(postgres, (client) => takeFreeNumbers(client, allowance, job.key!))
    await buildNow({ postgres, clickhouse }, job.key!)
    // Other builds of the organization may have waited for this one.
    await wakeQueue(postgres, buildsQueue)
    return undefined
  } catch (error) {
    if (error instanceof LeaseHeldError) return { againInSeconds: heldSeconds }
    if (job.isLastTry && !isUnavailable(error)) {
      const reason =
        error instanceof MissingReference
          ? error.message
          : 'The build failed because of an internal error. Contact the operator.'
      await failBuild(postgres, job.key!, reason)
      log.warn(
        { build_id: job.key, error: (error as Error).message },
        'a build of an audience failed',
      )
    }
    throw error
  }
}

/** Drops the members of builds that are no longer served, or were deleted with their audience. */
export async function dropBuilds({ postgres, clickhouse }: EventStores): Promise<void> {
  await postgres.query('UPDATE audience_builds SET members_kept = false WHERE build_id = ANY($1)', [
    await readDroppableBuilds(postgres),
  ])
  for (const store of Object.values(clickhouse)) {
    const stored = await readStoredBuilds(store)
    const kept = await keepsMembers(postgres, stored)
    for (const buildId of stored) if (!kept.has(buildId)) await dropMembers(store, buildId)
  }
}

/** Number of builds of an audience that keep their members, for entries and exits. */
const buildsKept = 3
/** How long pages and files may still read a build after another one replaced it. */
const readHours = 24

/**
 * Returns builds whose members may be deleted: failed ones, and those that ended a day ago and have enough
 * newer builds. A build that was charged today or yesterday stays, because newer builds look up charged
 * people in it.
 */
async function readDroppableBuilds(client: Queryable): Promise<string[]> {
  const { rows } = await client.query<{ build_id: string }>(
    `SELECT build_id FROM (
       SELECT build_id, audience_id, status, updated_at, row_number() OVER (
         PARTITION BY audience_id, status = 'completed' ORDER BY number DESC) AS place
       FROM audience_builds
       WHERE members_kept AND coalesce(members_kept_until, '-infinity') < now() AND status IN ('completed', 'failed')
     ) AS ended JOIN audiences USING (audience_id)
     WHERE build_id IS DISTINCT FROM current_build_id AND (status = 'failed' OR place > $1)
       AND ended.updated_at < now() - make_interval(hours => $2)
       AND NOT EXISTS (SELECT FROM build_charges AS charged WHERE charged.build_id = ended.build_id
         AND day >= (now() AT TIME ZONE 'UTC')::date - 1 AND day < 'infinity')
     LIMIT 1000`,
    [buildsKept, readHours],
  )
  return rows.map(({ build_id }) => build_id)
}

/** Which of these builds must keep their members; unknown builds need not. */
async function keepsMembers(client: Queryable, buildIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await client.query<{ build_id: string }>(
    'SELECT build_id FROM audience_builds WHERE build_id = ANY($1) AND members_kept',
    [buildIds],
  )
  return new Set(rows.map(({ build_id }) => build_id))
}

/**
 * Requests builds of audiences with a schedule that have none since the hour, or the day (UTC), began. An
 * audience with a running build waits for its end.
 */
export async function requestDueBuilds(postgres: Postgres): Promise<void> {
  await inTransaction(postgres, async (client) => {
    // Several that looked at once would ask twice.
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended('audiences.refresh', 0))")
    const { rows } = await client.query<{ audience_id: string }>(
      `SELECT audience_id FROM audiences
       CROSS JOIN LATERAL (
         SELECT requested_at, status FROM audience_builds WHERE audience_builds.audience_id = audiences.audience_id
         ORDER BY number DESC LIMIT 1
       ) AS newest
       WHERE refresh <> 'manual' AND newest.status IN ('completed', 'failed')
         AND newest.requested_at < date_trunc(CASE refresh WHEN 'hourly' THEN 'hour' ELSE 'day' END, now(), 'UTC')`,
    )
    for (const { audience_id } of rows) await requestBuild(client, audience_id)
  })
}

/**
 * Takes a free answer for the numbers of a build that has not completed, and notes from when they are shown. Builds of
 * the same definition on one day take one, unless a list or audience that it uses has changed. The audience of a list
 * is internal, so its builds take none.
 */
export async function takeFreeNumbers(
  client: Queryable,
  allowance: Pick<Allowance, 'takeForWork'>,
  buildId: string,
): Promise<void> {
  const { rows } = await client.query<{
    organization_id: string
    project_id: string
    definition: unknown
    intent_window_days: number
  }>(
    `SELECT organization_id, project_id, build.definition, build.intent_window_days
     FROM audience_builds AS build JOIN audiences USING (audience_id) JOIN projects USING (project_id)
     WHERE build_id = $1 AND build.status IN ('pending', 'unloading') AND list_id IS NULL`,
    [buildId],
  )
  const [build] = rows
  if (!build) return
  const { organization_id, project_id, definition, intent_window_days } = build
  const versions = await readUsedVersions(client, parseDefinition(definition))
  const question = ['build', project_id, definition, intent_window_days, versions]
  await client.query('UPDATE audience_builds SET numbers_from = $2 WHERE build_id = $1', [
    buildId,
    await allowance.takeForWork(client, organization_id, question, Date.now()),
  ])
}
