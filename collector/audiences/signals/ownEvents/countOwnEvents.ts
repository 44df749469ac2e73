import { createHash } from 'node:crypto'
import { bindings } from '../../../events/query/bind.ts'
import { readDayFingerprints } from '../../../events/query/dayFingerprints.ts'
import { dayMs } from '../../../events/query/window/window.ts'
import type { ClickHouse } from '../../../platform/clickhouse/client.ts'
import { deleteRows } from '../../../platform/clickhouse/deleteRows.ts'
import type { Postgres } from '../../../platform/postgres/pool.ts'
import { uuidV7 } from '../../../platform/uuidV7.ts'
import { windowDaysMax } from '../interestPlan.ts'
import { type Rule, readRules } from '../rules.ts'
import { baselineDays } from '../score.ts'
import { matchedEventsSelect } from './matchedEventsQuery.ts'
import { noteRuns, type Run, readRuns } from './runs.ts'

/** The most days that one statement counts, so that each statement is short. */
const daysAtOnce = 7

const settings = `SETTINGS max_memory_usage = ${1024 ** 3}, max_execution_time = 100,
  max_bytes_before_external_group_by = ${256 * 1024 ** 2}`

/**
 * Counts an organization's own events by topic, according to its rules, by cookie and day. It counts days
 * whose events or rules have changed since the last count. Readers see a day's old counts until all new ones
 * exist. May be repeated at any time.
 */
export async function countOwnEvents(
  { postgres, clickhouse }: { postgres: Postgres; clickhouse: ClickHouse },
  organizationId: string,
  nowMs = Date.now(),
): Promise<void> {
  const today = Math.floor(nowMs / dayMs)
  const fromDay = today - windowDaysMax - baselineDays + 1
  const { rules } = await readRules(postgres, organizationId)
  const projectIds = rules.length > 0 ? await readProjects(postgres, organizationId) : []
  const stale = await findStaleRuns(clickhouse, {
    organizationId,
    projectIds,
    rules,
    fromDay,
    today,
  })
  for (let from = 0; from < stale.length; from += daysAtOnce) {
    const runs = stale.slice(from, from + daysAtOnce)
    const runId = uuidV7()
    const withEvents = runs.filter(({ fingerprint }) => fingerprint !== nothing)
    if (withEvents.length > 0) {
      const { bind, params } = bindings()
      const days = withEvents.map(({ day }) => day)
      await clickhouse.command({
        sql: `INSERT INTO intent_event_days (organization_id, topic, date, run_id, cookie_id, events)
SELECT ${bind('UUID', organizationId)}, topic, date, ${bind('UUID', runId)}, cookie_id, events
FROM (
${matchedEventsSelect({ organizationId, projectIds, rules, days }, bind)}
)
${settings}`,
        params,
      })
    }
    await noteRuns(clickhouse, organizationId, runId, runs)
  }
}

/** The fingerprint of a day without events, or without rules. */
const nothing = ''

interface Counted {
  readonly organizationId: string
  readonly projectIds: readonly string[]
  readonly rules: readonly Rule[]
  readonly fromDay: number
  readonly today: number
}

/**
 * Returns the days to count, with their new state. Read it before the events, so that later events cause
 * another count.
 */
async function findStaleRuns(
  clickhouse: ClickHouse,
  { organizationId, projectIds, rules, fromDay, today }: Counted,
): Promise<Run[]> {
  const ofRules = createHash('sha256').update(JSON.stringify(rules)).digest('hex').slice(0, 32)
  const events =
    projectIds.length > 0
      ? await readDayFingerprints(clickhouse, projectIds, fromDay, today)
      : new Map<number, string>()
  const known = new Map(
    (await readRuns(clickhouse, organizationId, fromDay)).map(({ day, fingerprint }) => [
      day,
      fingerprint,
    ]),
  )
  const fingerprintOf = (day: number) =>
    events.has(day) ? `${ofRules} ${events.get(day)}` : nothing
  return [...new Set([...events.keys(), ...known.keys()])]
    .sort((one, other) => one - other)
    .map((day) => ({ day, fingerprint: fingerprintOf(day) }))
    .filter(({ day, fingerprint }) => known.get(day) !== fingerprint)
}

async function readProjects(postgres: Postgres, organizationId: string): Promise<string[]> {
  const { rows } = await postgres.query<{ project_id: string }>(
    'SELECT project_id FROM projects WHERE organization_id = $1',
    [organizationId],
  )
  return rows.map(({ project_id }) => project_id)
}

export async function deleteOldCounts(clickhouse: ClickHouse): Promise<void> {
  await deleteRows(clickhouse, 'intent_event_days', {
    sql: `counted_at < now() - INTERVAL 1 HOUR AND (organization_id, date, run_id) NOT IN
      (SELECT organization_id, date, run_id FROM intent_event_runs FINAL)`,
    params: {},
  })
}
