import { Readable } from 'node:stream'
import { compareHits } from '../../analytics/hits/compareHits.ts'
import { rebuildHits } from '../../analytics/hits/rebuildHits.ts'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { companyAt, type Graph, profileAt } from '../../identity/generate/index.ts'
import { profileCount } from '../../identity/store/profileSql.ts'
import { reloadIdentity } from '../../identity/store/refresh.ts'
import { locationMembers } from '../../ingest/normalize/address.ts'
import { cachedDevice } from '../../ingest/normalize/device.ts'
import { eventRow, sharedMembers } from '../../ingest/normalize/eventRow.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { dayMs, hourMs } from '../../platform/days.ts'
import { sampleDeliveries } from './sampleCampaigns.ts'
import { sampleSignals, signalDays } from './sampleSignals.ts'
import { planDay, type SampleEvent } from './sampleTraffic.ts'
import { sampleVisitors } from './sampleVisitors.ts'

/** Number of days before today in the sample, by default. */
const daysBeforeMax = 30

/** The spool id of sample rows, which no spool uses. */
const spoolId = '5a3b1e00-0000-4000-8000-000000000000'

export interface Owner {
  readonly organizationId: string
  readonly projectId: string
  readonly pixelId: string
}

/** Returns the rows of one sample day (UTC midnight) in order of time; each call returns the same bytes. */
export function sampleRows(day: Date, owner: Owner = sampleIdentity): string[] {
  const dayNumber = Math.floor(day.getTime() / dayMs)
  return eventRows(planDay(dayNumber), owner, dayNumber * 10_000)
}

/** Returns the wanted events as rows of the owner. The numbers of all events in the spool begin with `firstSeq`. */
export const eventRows = (
  events: readonly SampleEvent[],
  owner: Owner,
  firstSeq: number,
  isWanted: (event: SampleEvent) => boolean = () => true,
): string[] =>
  events.flatMap((event, index) =>
    isWanted(event) ? spooled(sampleRow(event, owner), firstSeq + index) : [],
  )

export function sampleCampaignRows(day: Date): string[] {
  const dayNumber = Math.floor(day.getTime() / dayMs)
  return sampleDeliveries(sampleIdentity, dayNumber).map((row, index) =>
    spooled(row, dayNumber * 10_000 + 5_000 + index),
  )
}

const spooled = (row: string, seq: number): string =>
  `{"spool_id":"${spoolId}","seq":${seq},${row.slice(1)}`

function sampleRow({ visitor, event }: SampleEvent, owner: Owner): string {
  const shared = sharedMembers({
    ...owner,
    cookieId: visitor.cookieId,
    clientIp: visitor.clientIp,
    deviceMembers: `${cachedDevice(visitor.userAgent).members},${locationMembers(visitor.location)},"language":${JSON.stringify(visitor.language)}`,
    receivedMillis: event.sentMillis + visitor.latencyMs,
    clockCorrectionMs: 0,
  })
  return eventRow(event, shared, event.sentMillis)
}

/** The identity graph of the sample's people. */
const graph: Graph = { seed: 20_260_101, companies: 40 }

/** Returns the people among the sample's visitors, about one in three, as rows of profiles. */
export const sampleProfiles = (of = graph): string[] =>
  sampleVisitors.flatMap(({ person }) =>
    person === null ? [] : JSON.stringify(profileAt(of, person)),
  )

/** Returns the employers of these people as rows of companies. */
export const sampleCompanies = (of = graph): string[] =>
  Array.from({ length: of.companies }, (_, index) => JSON.stringify(companyAt(of, index)))

export const sampleLinks = (
  observedAt: Date,
  owner: Owner = sampleIdentity,
  of = graph,
): string[] =>
  sampleVisitors.flatMap(({ cookieId, person }, index) => {
    if (person === null) return []
    return JSON.stringify({
      organization_id: owner.organizationId,
      cookie_id: cookieId,
      hem: profileAt(of, person).hem,
      pixel_id: owner.pixelId,
      observed_at: observedAt.toISOString(),
      spool_id: spoolId,
      seq: index,
    })
  })

/**
 * Ensures that the sample database has the `daysBefore` days before `now` and the past hours of today, and
 * nothing in the future. Existing hours stay unchanged. Two processes may run it at once. A missing month or
 * hour is one block with the same bytes and the same token in both, so ClickHouse stores it once.
 */
export async function fillSampleDatabase(
  clickhouse: ClickHouse,
  now: Date,
  daysBefore = daysBeforeMax,
): Promise<void> {
  const today = Math.floor(now.getTime() / dayMs)
  const firstDay = today - daysBefore
  const { hours, signals, profiles } = await present(clickhouse, firstDay)
  if (profiles === 0) {
    // Observed now, so that these links rank above an earlier release's links of the same cookies. A second
    // copy replaces them.
    await insertSample(
      clickhouse,
      'identity_links',
      sampleLinks(now),
      `sample-links-${now.getTime()}`,
    )
    await insertSample(clickhouse, 'companies', sampleCompanies(), 'sample-companies')
    await insertSample(clickhouse, 'profiles', sampleProfiles(), 'sample-profiles')
    await reloadIdentity(clickhouse)
  }
  const withoutSignals = Array.from(
    { length: signalDays + 1 },
    (_, index) => today - signalDays + index,
  )
    .filter((day) => !signals.includes(day))
    .flatMap((day) => sampleSignals(day, graph))
  if (withoutSignals.length > 0) {
    await insertSample(clickhouse, 'intent_signals', withoutSignals, `sample-signals-${today}`)
  }
  const rowsOf = (midnight: Date) => [...sampleRows(midnight), ...sampleCampaignRows(midnight)]
  const dayOf = (hour: number) => Math.floor((hour * hourMs) / dayMs)
  const insertHours = async (day: number) => {
    for (const [hour, rows] of byHour(rowsOf(new Date(day * dayMs))))
      if (!hours.includes(hour) && (hour + 1) * hourMs <= now.getTime())
        await insertSample(clickhouse, 'events', rows, `sample-hour-${hour}`)
  }
  // Hours are stored in order, so only the last existing day before today can be incomplete.
  const lastDay = dayOf(Math.max(-1, ...hours))
  if (lastDay >= firstDay && lastDay < today) await insertHours(lastDay)
  const there = new Set(hours.map(dayOf))
  const missing = Array.from({ length: daysBefore }, (_, index) => firstDay + index)
    .filter((day) => !there.has(day))
    .map((day) => new Date(day * dayMs))
  await insertDays(clickhouse, missing, rowsOf, 'sample')
  await insertHours(today)
  // The days of a new database at once. A comparison builds each day of its own.
  if (hours.length === 0) await rebuildHits(clickhouse, [sampleIdentity.projectId])
  await compareHits(
    clickhouse,
    { appendedMs: now.getTime(), transitHosts: [] },
    new AbortController().signal,
  )
}

/** Groups rows by the hour of receipt, counted from 1 January 1970. */
function byHour(rows: readonly string[]): Map<number, string[]> {
  const hours = new Map<number, string[]>()
  for (const row of rows) {
    const { received_at } = JSON.parse(row) as { received_at: string }
    const hour = Math.floor(Date.parse(received_at) / hourMs)
    hours.set(hour, [...(hours.get(hour) ?? []), row])
  }
  return hours
}

/**
 * Stores the events of these days, ascending, one block for each month: a partition is complete or absent. Days without
 * rows are ignored.
 */
export async function insertDays(
  clickhouse: ClickHouse,
  midnights: readonly Date[],
  rowsOf: (midnight: Date) => readonly string[],
  name: string,
): Promise<void> {
  const months = new Map<string, Date[]>()
  for (const midnight of midnights) {
    const month = nameOf(midnight).slice(0, 7)
    months.set(month, [...(months.get(month) ?? []), midnight])
  }
  for (const days of months.values()) {
    const token = `${name}-${nameOf(days[0]!)}-${nameOf(days.at(-1)!)}`
    await insertStream(clickhouse, 'events', textOf(days, rowsOf), token)
  }
}

/** The rows of one day at a time: those of a month would take hundreds of megabytes of memory. */
function* textOf(days: readonly Date[], rowsOf: (midnight: Date) => readonly string[]) {
  for (const day of days) {
    const rows = rowsOf(day)
    if (rows.length > 0) yield `${rows.join('\n')}\n`
  }
}

const nameOf = (midnight: Date): string => midnight.toISOString().slice(0, 10)

/** Reads the existing hours from `firstDay` on, the days with signals, and the number of profiles. */
async function present(
  clickhouse: ClickHouse,
  firstDay: number,
): Promise<{ hours: number[]; signals: number[]; profiles: number }> {
  const [found] = await clickhouse.rows<{ hours: number[]; signals: number[]; profiles: number }>({
    sql: `SELECT
            (SELECT groupUniqArray(toUInt32(intDiv(toUnixTimestamp64Milli(received_at), {hourMs:Int64}))) FROM events
             WHERE project_id = {projectId:UUID} AND ts_millis >= {fromMs:Int64}) AS hours,
            (SELECT groupUniqArray(toUInt16(date)) FROM intent_signals) AS signals,
            (${profileCount}) AS profiles`,
    params: { hourMs, projectId: sampleIdentity.projectId, fromMs: firstDay * dayMs },
  })
  return found!
}

/** Stores rows once for each token. */
export const insertSample = (
  clickhouse: ClickHouse,
  table: string,
  rows: readonly string[],
  token: string,
) => insertStream(clickhouse, table, [`${rows.join('\n')}\n`], token)

const insertStream = (
  clickhouse: ClickHouse,
  table: string,
  texts: Iterable<string>,
  token: string,
) => clickhouse.insertLines(table, Readable.from(texts, { objectMode: false }), token)
