import { type Static, Type } from 'typebox'
import type { Principal } from '../../api/access/principal.ts'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import { Choice } from '../../api/http/commonSchemas.ts'
import { dateOf, dayMs } from '../../platform/days.ts'
import type { TimeZone } from '../../platform/timeZone.ts'
import type { AnalyticsPlan } from '../figuresRequest.ts'
import { withoutPersons } from '../sharePolicy.ts'

const source = Choice(['plausible'], { description: 'The product that counted the figures.' })
const figures = {
  visitors: Type.Integer({ description: 'Sum of the visitors of each day.' }),
  page_views: Type.Integer({ description: 'Number of page views; 0 if the export has none.' }),
  sessions: Type.Integer({ description: 'Visits, as the product counted them.' }),
}
const note =
  'Read-only figures that the operator imported from another product, for complete days of the window before the ' +
  "project's first event. They are not part of the other figures. Absent without such days, with a filter, and for a " +
  'single pixel.'

export const ImportedTotals = Type.Object(
  {
    source,
    first_day: Type.String({ format: 'date', description: 'The first imported day.' }),
    last_day: Type.String({ format: 'date', description: 'The last imported day.' }),
    ...figures,
  },
  { title: 'AnalyticsImportedTotals', additionalProperties: false, description: note },
)

export const ImportedPoints = Type.Object(
  {
    source,
    points: Type.Array(
      Type.Object(
        { start_ms: Type.Integer({ description: 'Start of the interval.' }), ...figures },
        { title: 'AnalyticsImportedPoint', additionalProperties: false },
      ),
    ),
  },
  { title: 'AnalyticsImportedPoints', additionalProperties: false, description: note },
)

export const ImportedValues = Type.Object(
  {
    source,
    values: Type.Array(
      Type.Object(
        { value: Type.String(), ...figures },
        { title: 'AnalyticsImportedValue', additionalProperties: false },
      ),
    ),
  },
  { title: 'AnalyticsImportedValues', additionalProperties: false, description: note },
)

interface Figures {
  readonly visitors: number
  readonly page_views: number
  readonly sessions: number
}

/** The imported days of a plan: number of days since 1970, both inclusive. */
interface ImportedDays {
  readonly projectId: string
  readonly firstDay: number
  readonly endDay: number
  readonly source: 'plausible'
}

/** The table's days of one source; `FINAL` leaves out rows that a later import replaced. */
const fromDays = `FROM imported_days FINAL
  WHERE project_id = {projectId:UUID} AND source = {source:String} AND dimension = {dimension:String}
    AND date >= toDate32({firstDay:Int32}) AND date < toDate32({endDay:Int32})`

const sums =
  'toUInt64(sum(visitors)) AS visitors, toUInt64(sum(page_views)) AS page_views, toUInt64(sum(sessions)) AS sessions'

/** Returns the imported days before the first event of the plan's project; null if there are none. */
export async function findImportedDays(
  reader: Pick<QueryExecutor, 'rows'>,
  { scope, window, zone, filters, sessionFilters = [] }: AnalyticsPlan,
): Promise<ImportedDays | null> {
  const { projectId, pixelId, campaignId } = scope
  const isFiltered = filters.length + sessionFilters.length > 0
  if (projectId === null || pixelId !== null || campaignId !== null || isFiltered) return null
  const params = { projectId }
  const [any] = await reader.rows<{ source: 'plausible' }>({
    sql: 'SELECT source FROM imported_days WHERE project_id = {projectId:UUID} LIMIT 1',
    params,
  })
  if (!any) return null
  const [first] = await reader.rows<{ ts_millis: number }>({
    sql: 'SELECT toInt64(ts_millis) AS ts_millis FROM events WHERE project_id = {projectId:UUID} ORDER BY ts_millis LIMIT 1',
    params,
  })
  const startDay = dayOf(window.startMs, zone)
  const firstDay = startOfDay(startDay, zone) === window.startMs ? startDay : startDay + 1
  const endDay = Math.min(
    dayOf(window.endMs, zone),
    first ? dayOf(Number(first.ts_millis), zone) : Number.POSITIVE_INFINITY,
  )
  return endDay > firstDay ? { projectId, firstDay, endDay, source: any.source } : null
}

/** Sums the imported days; empty if the window has none. */
export async function readImportedTotals(
  reader: Pick<QueryExecutor, 'rows'>,
  plan: AnalyticsPlan,
): Promise<{ imported?: Static<typeof ImportedTotals> }> {
  const days = await findImportedDays(reader, plan)
  if (!days) return {}
  const rows = await readDays(reader, days)
  if (rows.length === 0) return {}
  const [first_day, last_day] = [dateOf(rows[0]!.day), dateOf(rows.at(-1)!.day)]
  const sums = rows.reduce(added, noFigures)
  return { imported: { source: days.source, first_day, last_day, ...sums } }
}

/** Sums the imported days by intervals of a series; empty if the window has none. */
export async function readImportedPoints(
  reader: Pick<QueryExecutor, 'rows'>,
  plan: AnalyticsPlan,
  starts: readonly number[],
): Promise<{ imported?: Static<typeof ImportedPoints> }> {
  const days = await findImportedDays(reader, plan)
  if (!days) return {}
  const points = new Map<number, Figures>()
  for (const row of await readDays(reader, days)) {
    const startMs = startOfDay(row.day, plan.zone)
    const start = starts.findLast((each) => each <= startMs)
    if (start !== undefined) points.set(start, added(points.get(start) ?? noFigures, row))
  }
  if (points.size === 0) return {}
  const sums = [...points].map(([start_ms, figures]) => ({ start_ms, ...figures }))
  return { imported: { source: days.source, points: sums } }
}

/** Returns the imported values of a dimension with the most visitors; empty if there are none. */
export async function readImportedValues(
  reader: Pick<QueryExecutor, 'rows'>,
  days: ImportedDays | null,
  { principal, dimension, limit }: { principal: Principal; dimension: string; limit: number },
): Promise<{ imported?: Static<typeof ImportedValues> }> {
  if (!days) return {}
  const values = await reader.rows<Figures & { value: string }>({
    sql: `SELECT value, ${sums} ${fromDays} AND value != ''
          GROUP BY value ORDER BY visitors DESC, value LIMIT {limit:UInt32}`,
    params: { ...days, dimension, limit },
  })
  if (values.length === 0) return {}
  const shown = values.map(({ value, ...figures }) => ({ value, ...added(noFigures, figures) }))
  return { imported: { source: days.source, values: withoutPersons(principal, shown) } }
}

const readDays = (reader: Pick<QueryExecutor, 'rows'>, days: ImportedDays) =>
  reader.rows<Figures & { day: number }>({
    sql: `SELECT toInt32(toRelativeDayNum(date)) AS day, ${sums} ${fromDays} GROUP BY date ORDER BY date`,
    params: { ...days, dimension: '' },
  })

const noFigures: Figures = { visitors: 0, page_views: 0, sessions: 0 }

/** ClickHouse may return 64-bit integers as text. */
const added = (one: Figures, other: Figures): Figures => ({
  visitors: one.visitors + Number(other.visitors),
  page_views: one.page_views + Number(other.page_views),
  sessions: one.sessions + Number(other.sessions),
})

/** Returns the number of the local day of a time, since 1 January 1970. */
const dayOf = (ms: number, zone: TimeZone): number => Math.floor((ms + zone.offsetAt(ms)) / dayMs)

const startOfDay = (day: number, zone: TimeZone): number => zone.instantOf(day * dayMs)
