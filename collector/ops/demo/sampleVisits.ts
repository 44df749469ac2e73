import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { dayMs } from '../../platform/days.ts'
import type { Log } from '../../platform/log.ts'
import { uuidOfText } from '../../platform/uuidOfDigest.ts'
import { eventRows, insertDays, type Owner } from '../sandbox/sampleDatabase.ts'
import { planDay, type SampleEvent } from '../sandbox/sampleTraffic.ts'
import type { Demo } from './demo.ts'
import { planPassersBy } from './passersBy.ts'
import { planVitals } from './sampleVitals.ts'

/** How many days the demo covers, today included: the default period and the previous one. */
const daysBack = 60
const everyMs = 60_000
/** By how much the arrival of added visits is later than now, so that no reader in order of arrival has passed it. */
const receivedAheadMs = 5_000

export const samplePixelId = ({ project_id }: Demo): string =>
  uuidOfText(`${project_id} sample visitors`)

const ownerOf = (demo: Demo) => ({
  organizationId: demo.organization_id,
  projectId: demo.project_id,
  pixelId: samplePixelId(demo),
})

/** Returns the rows of a UTC day that happen in these milliseconds: the visits, then the measurements of the pages. */
function demoRows(midnight: Date, owner: Owner, fromMs = -Infinity, endMs = Infinity): string[] {
  const dayNumber = Math.floor(midnight.getTime() / dayMs)
  const visits = [...planDay(dayNumber), ...planPassersBy(dayNumber)].sort(
    (a, b) => a.event.sentMillis - b.event.sentMillis,
  )
  const isWithin = ({ event: { sentMillis } }: SampleEvent) =>
    sentMillis >= fromMs && sentMillis < endMs
  const vitals = planVitals(dayNumber, visits)
  return [
    ...eventRows(visits, owner, dayNumber * 10_000, isWithin),
    ...eventRows(vitals, owner, dayNumber * 10_000 + 5_000, isWithin),
  ]
}

/** Returns the rows of the day before yesterday, all of which are stored. */
export const storedRows = (demo: Demo, now: Date): string[] =>
  demoRows(new Date((Math.floor(now.getTime() / dayMs) - 2) * dayMs), ownerOf(demo))

/**
 * Stores the sample visits that happened since the last stored one, up to `now`, at most 60 days of them. Only one
 * process may do so: the primary process of the service with the demo, which holds the lock of the data directory.
 */
export async function addSampleVisits(
  clickhouse: ClickHouse,
  demo: Demo,
  now = new Date(),
): Promise<void> {
  const owner = ownerOf(demo)
  const [stored] = await clickhouse.rows<{ last: number }>({
    sql: `SELECT max(ts_millis) AS last FROM events
          WHERE project_id = {projectId:UUID} AND pixel_id = {pixelId:UUID}`,
    params: { projectId: owner.projectId, pixelId: owner.pixelId },
  })
  const endMs = now.getTime()
  const today = Math.floor(endMs / dayMs)
  const firstMs = Math.max(stored!.last + 1, (today - daysBack + 1) * dayMs)
  const firstDay = Math.floor(firstMs / dayMs)
  const midnights = Array.from(
    { length: Math.max(0, today - firstDay + 1) },
    (_, index) => new Date((firstDay + index) * dayMs),
  )
  // The first visits arrived when they happened; nobody has read them yet.
  const arrived = (row: string) =>
    stored!.last === 0
      ? row
      : row.replace(
          /"received_at":"[^"]*"/,
          `"received_at":"${new Date(endMs + receivedAheadMs).toISOString()}"`,
        )
  const rowsOf = (midnight: Date) => demoRows(midnight, owner, firstMs, endMs).map(arrived)
  await insertDays(clickhouse, midnights, rowsOf, `demo-${owner.projectId}-${firstMs}-${endMs}`)
}

/** Adds the visits of each minute while the service runs. The returned function stops it. */
export function keepSampleVisitsComing(
  clickhouse: ClickHouse,
  demo: Demo,
  log: Log,
): () => Promise<void> {
  let adding = Promise.resolve()
  const add = () => {
    adding = adding
      .then(() => addSampleVisits(clickhouse, demo))
      .catch((error: Error) =>
        log.warn({ error: error.message }, 'sample visits could not be stored'),
      )
  }
  add()
  const timer = setInterval(add, everyMs)
  return async () => {
    clearInterval(timer)
    await adding
  }
}
