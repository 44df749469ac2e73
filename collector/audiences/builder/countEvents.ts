import { bindings } from '../../events/query/bind.ts'
import { readDayFingerprints } from '../../events/query/dayFingerprints.ts'
import { dayMs } from '../../platform/days.ts'
import { uuidV7 } from '../../platform/uuidV7.ts'
import type { Build } from '../builds.ts'
import type { EventLeaf, Parsed } from '../definition/definition.ts'
import { type CountsScan, eventCountsSelect } from './eventCountsQuery.ts'
import { isOfEventsAlone, type LeafDay, leafIdOf, noteLeafDays, readLeafDays } from './leafDays.ts'
import { type BuildDeps, stepSettings } from './memberStore.ts'

const daysMax = 31
/** The most filters of one statement, because ClickHouse binds at most a thousand values. */
const filtersMax = 100

interface Counted {
  readonly leafId: string
  readonly leaf: EventLeaf
  readonly fromDay: number
}

interface Scan {
  readonly leaves: readonly Counted[]
  readonly days: readonly number[]
}

/**
 * Step 2 of a build: counts the events that match its event leaves, by cookie and day. It counts only days whose counts
 * are unknown: today, days whose events have changed, and days that were counted more than 28 days ago. Of new leaves,
 * and of leaves that read other tables (`isOfEventsAlone`), it counts all days. It may be repeated at any time. It reports
 * the completed share to `progress`.
 *
 *   countedLeaves ▶ readDayFingerprints, readLeafDays ▶ findStaleDays ▶ planScans ▶ each scan: insert, then note its run
 */
export async function countEvents(
  { postgres, clickhouse }: BuildDeps,
  build: Build,
  parsed: Parsed,
  progress: (share: number) => Promise<void>,
): Promise<void> {
  const today = Math.floor(build.asOfMs / dayMs)
  const leaves = countedLeaves(build.projectId, parsed, today)
  if (leaves.length === 0) return
  const firstDay = Math.min(...leaves.map(({ fromDay }) => fromDay))
  // Read before the events are counted: an event that arrives in between changes the day's fingerprint, so that the
  // next build counts the day again.
  const fingerprints = await readDayFingerprints(clickhouse, [build.projectId], firstDay, today)
  const countedDays = await readLeafDays(
    postgres,
    leaves.map(({ leafId }) => leafId),
    firstDay,
  )
  const staleDays = findStaleDays(leaves, today, fingerprints, countedDays)
  const scans = planScans(staleDays)
  for (const [index, { leaves, days }] of scans.entries()) {
    const runId = uuidV7()
    const withEvents = days.filter((day) => fingerprints.has(day))
    if (withEvents.length > 0) await insertCounts(leaves, withEvents, runId)
    await noteLeafDays(
      postgres,
      build.projectId,
      leaves.flatMap(({ leafId, leaf }) =>
        days.map(
          (day): LeafDay => ({
            leaf_id: leafId,
            day,
            run_id: fingerprints.has(day) ? runId : null,
            fingerprint:
              day < today && isOfEventsAlone(leaf) ? (fingerprints.get(day) ?? noEvents) : null,
          }),
        ),
      ),
    )
    await progress((index + 1) / scans.length)
  }

  async function insertCounts(
    leaves: readonly Counted[],
    days: readonly number[],
    runId: string,
  ): Promise<void> {
    const { bind, params } = bindings()
    const { organizationId, projectId, asOfMs } = build
    const scan: CountsScan = {
      organizationId,
      projectId,
      asOfMs,
      days,
      leaves: new Map(leaves.map(({ leafId, leaf }) => [leafId, leaf])),
    }
    await clickhouse.command({
      sql: `INSERT INTO audience_leaf_days (leaf_id, day, run_id, cookie_id, organization_id, events)
SELECT leaf_id, day, ${bind('UUID', runId)}, cookie_id, ${bind('UUID', organizationId)}, events
FROM (
${eventCountsSelect(scan, bind)}
)
${stepSettings}`,
      params,
    })
  }
}

/** The fingerprint of a day without events. */
const noEvents = '0'

/** The event leaves of a definition, once each, with the longest period in which it is used. */
function countedLeaves(projectId: string, { leaves }: Parsed, today: number): Counted[] {
  const counted = new Map<string, Counted>()
  for (const leaf of leaves) {
    if (leaf.kind !== 'event') continue
    const leafId = leafIdOf(projectId, leaf)
    const fromDay = Math.min(today - leaf.withinDays, counted.get(leafId)?.fromDay ?? today)
    counted.set(leafId, { leafId, leaf, fromDay })
  }
  return [...counted.values()]
}

function findStaleDays(
  leaves: readonly Counted[],
  today: number,
  fingerprints: ReadonlyMap<number, string>,
  countedDays: readonly LeafDay[],
): ReadonlyMap<Counted, readonly number[]> {
  const knownAs = new Map(
    countedDays.map(({ leaf_id, day, fingerprint }) => [`${leaf_id} ${day}`, fingerprint]),
  )
  return new Map(
    leaves.map((counted) => {
      const days = Array.from(
        { length: today - counted.fromDay + 1 },
        (_, index) => counted.fromDay + index,
      )
      const isFresh = (day: number) =>
        knownAs.get(`${counted.leafId} ${day}`) === (fingerprints.get(day) ?? noEvents)
      return [counted, days.filter((day) => !isFresh(day))]
    }),
  )
}

/** Counts leaves with the same stale days in one scan, unless a leaf reads other tables than `events`. */
function planScans(staleDays: ReadonlyMap<Counted, readonly number[]>): Scan[] {
  const scans: Scan[] = []
  const together = new Map<string, Counted[]>()
  for (const [counted, days] of staleDays) {
    const key = isOfEventsAlone(counted.leaf) ? days.join() : `${counted.leafId} ${days.join()}`
    together.set(key, [...(together.get(key) ?? []), counted])
  }
  for (const leaves of together.values()) {
    const days = staleDays.get(leaves[0]!)!
    for (let from = 0; from < days.length; from += daysMax) {
      for (const some of inParts(leaves))
        scans.push({ leaves: some, days: days.slice(from, from + daysMax) })
    }
  }
  return scans
}

function inParts(leaves: readonly Counted[]): Counted[][] {
  const parts: Counted[][] = []
  let filters = filtersMax
  for (const counted of leaves) {
    filters += counted.leaf.filters.length + 2
    if (filters > filtersMax) {
      parts.push([])
      filters = counted.leaf.filters.length + 2
    }
    parts.at(-1)!.push(counted)
  }
  return parts
}
