import type { SecretBoxSettings } from '../../platform/outbound/secretBox.ts'
import { missingGrants } from '../../platform/postgres/grants.ts'
import { migrationNames } from '../../platform/postgres/migrate.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { requireSession } from '../../platform/postgres/requireSession.ts'
import { aheadMsMax } from '../../platform/sharedClock.ts'
import { examineSecretKey } from './checkSecretKey.ts'
import { clockFinding, duration, type Finding, finding, schemaFinding } from './finding.ts'

/** PostgreSQL 14 introduced multiranges, which charges of builds use. */
const versionMin = 14
const connectionsShareMax = 0.8
/** A collector publishes its watermark every second. */
const silentMsMax = 60_000
/** The job of figures notes its progress every minute. */
const figuresBehindMsMax = 15 * 60_000

export async function examinePostgres(
  pool: Postgres,
  url: string,
  settings: SecretBoxSettings,
): Promise<Finding[]> {
  return [
    ...(await examineServer(pool)),
    ...(await examineSession(pool, url)),
    ...(await examineSchema(pool, settings)),
  ]
}

async function examineSession(pool: Postgres, url: string): Promise<Finding[]> {
  try {
    await requireSession(pool, url)
    return []
  } catch (error) {
    return [finding('PostgreSQL cannot be used', (error as Error).message)]
  }
}

async function examineServer(pool: Postgres): Promise<Finding[]> {
  await pool.query('SELECT 1') // The connection is open, so the next response measures only the round trip.
  const sentAt = Date.now()
  const { rows } = await pool.query<{
    now: number
    version: string
    used: number
    allowed: number
  }>(
    `SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now, current_setting('server_version') AS version,
       (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS used,
       current_setting('max_connections')::int AS allowed`,
  )
  const receivedAt = Date.now()
  const { now, version, used, allowed } = rows[0]!
  const isOld = Number.parseInt(version, 10) < versionMin
  const isFull = used > allowed * connectionsShareMax
  const grants = await missingGrants(pool)
  return [
    finding(
      `PostgreSQL ${version} answers in ${receivedAt - sentAt} ms`,
      isOld ? `${versionMin} or newer is needed` : null,
    ),
    clockFinding('PostgreSQL', now, sentAt, receivedAt),
    finding(
      `PostgreSQL has ${used} of ${allowed} connections in use`,
      isFull
        ? 'raise max_connections, or lower FOOTFALL_WORKERS or FOOTFALL_POSTGRES_CONNECTIONS_MAX'
        : null,
    ),
    finding(
      'the login has the required rights in PostgreSQL',
      grants.length > 0 ? `missing: ${grants.join('; ')}` : null,
    ),
  ]
}

async function examineSchema(pool: Postgres, settings: SecretBoxSettings): Promise<Finding[]> {
  const { rows } = await pool.query(
    "SELECT to_regclass('migrations') AS migrations, to_regclass('pgboss.job') AS jobs",
  )
  if (!rows[0]!.migrations) return [schemaFinding('PostgreSQL', [], migrationNames())]
  const { rows: applied } = await pool.query<{ name: string }>('SELECT name FROM migrations')
  const schema = schemaFinding(
    'PostgreSQL',
    applied.map(({ name }) => name),
    migrationNames(),
  )
  if (!schema.ok) return [schema]
  return [
    schema,
    ...(await examineSecretKey(pool, settings)),
    ...(await examineCollectors(pool)),
    ...(await examineFigures(pool)),
    ...(rows[0]!.jobs ? [await examineJobs(pool)] : []),
  ]
}

async function examineCollectors(pool: Postgres): Promise<Finding[]> {
  const { rows } = await pool.query<{
    id: string
    hostname: string
    silent_ms: number
    behind_ms: number
    ahead_ms: number
    is_released: boolean
  }>(
    `SELECT collector_id AS id, hostname, extract(epoch FROM now() - reported_at)::float8 * 1000 AS silent_ms,
       extract(epoch FROM reported_at)::float8 * 1000 - complete_until_ms AS behind_ms,
       complete_until_ms - extract(epoch FROM clock_timestamp())::float8 * 1000 AS ahead_ms,
       released_at IS NOT NULL AS is_released
     FROM collectors ORDER BY hostname, collector_id`,
  )
  return rows.map(({ id, hostname, silent_ms, behind_ms, ahead_ms, is_released }) => {
    const name = `collector ${id} on ${hostname}`
    if (ahead_ms > aheadMsMax)
      return finding(
        `the watermark of ${name} is ${duration(ahead_ms)} ahead of PostgreSQL's clock`,
        'its clock was wrong: set the clock by NTP, then restart the collector, which sets the watermark back',
      )
    if (is_released) return finding(`${name} has stopped and has everything in ClickHouse`, null)
    if (silent_ms > silentMsMax)
      return finding(
        `${name} has not reported for ${duration(silent_ms)}`,
        'start it again. If the machine is lost, ship the rest of its disk (npx footfall-server spool ship DIR). Then run npx footfall-server collectors retire ID; complete_until waits for it',
      )
    const isBehind = behind_ms > silentMsMax
    return finding(
      `${name} has all but the last ${duration(Math.max(behind_ms, 0))} in ClickHouse`,
      isBehind
        ? 'check its log, and whether every shard of ClickHouse accepts inserts: all events wait for one that does not'
        : null,
    )
  })
}

async function examineFigures(pool: Postgres): Promise<Finding[]> {
  const { rows } = await pool.query<{ behind_ms: number }>(
    'SELECT complete_until()::float8 - repaired_ms AS behind_ms FROM hits_progress WHERE complete_until() IS NOT NULL',
  )
  return rows.map(({ behind_ms }) =>
    finding(
      `figures have all but the last ${duration(Math.max(behind_ms, 0))} of the events in ClickHouse`,
      behind_ms > figuresBehindMsMax
        ? 'a running service counts events every few seconds: check the log for the job analytics.hits'
        : null,
    ),
  )
}

async function examineJobs(pool: Postgres): Promise<Finding> {
  const { rows } = await pool.query<{ failed: number }>(
    "SELECT count(*)::int AS failed FROM pgboss.job WHERE state = 'failed'",
  )
  const { failed } = rows[0]!
  return finding(
    failed === 0 ? 'no background job has failed' : `${failed} background jobs have failed`,
    failed > 0 ? 'list the reasons with npx footfall-server jobs' : null,
  )
}
