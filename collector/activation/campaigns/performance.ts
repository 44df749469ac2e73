import type { Static } from 'typebox'
import type { QueryExecutor } from '../../api/access/queryExecutor.ts'
import type { Query } from '../../platform/clickhouse/client.ts'
import type { Daily, Metrics as MetricsSchema } from './campaignSchemas.ts'

export type Metrics = Static<typeof MetricsSchema>

/** Delivered events and cost: spend in millionths, so that sums are exact. */
interface Delivered {
  impressions: number
  clicks: number
  spendMicros: number
}

/** The campaigns and days (YYYY-MM-DD, UTC, both inclusive) of a report. */
interface PerformanceOf {
  organizationId: string
  campaigns: readonly { campaign_id: string; project_id: string }[]
  startDate?: string | undefined
  endDate?: string | undefined
}

const none: Delivered = { impressions: 0, clicks: 0, spendMicros: 0 }

const add = (a: Delivered, b: Delivered): Delivered => ({
  impressions: a.impressions + b.impressions,
  clicks: a.clicks + b.clicks,
  spendMicros: a.spendMicros + b.spendMicros,
})

export const sumOf = (all: Iterable<Delivered>): Delivered => [...all].reduce(add, none)

/** Reads the deliveries of each campaign; a campaign without deliveries has no entry. */
export const readDelivered = (
  queryExecutor: QueryExecutor,
  of: PerformanceOf,
): Promise<Map<string, Delivered>> => read(queryExecutor, of, 'campaign_id')

export const readDaily = (
  queryExecutor: QueryExecutor,
  of: PerformanceOf,
): Promise<Map<string, Delivered>> => read(queryExecutor, of, 'date')

async function read(queryExecutor: QueryExecutor, of: PerformanceOf, by: 'campaign_id' | 'date') {
  const delivered = new Map<string, Delivered>()
  if (of.campaigns.length === 0) return delivered
  const rows = await queryExecutor.rows<{
    key: string
    event_type: string
    events: number
    micros: number
  }>(deliveredQuery(of, by))
  for (const { key, event_type, events, micros } of rows) {
    const part = {
      impressions: event_type === 'impression' ? events : 0,
      clicks: event_type === 'click' ? events : 0,
      spendMicros: micros,
    }
    delivered.set(key, add(delivered.get(key) ?? none, part))
  }
  return delivered
}

const date = "toDate(fromUnixTimestamp64Milli(ts_millis, 'UTC'))"

/** Uses the expressions of the projection by_campaign, so that ClickHouse reads it instead of the events. */
export function deliveredQuery(
  { organizationId, campaigns, startDate, endDate }: PerformanceOf,
  by: 'campaign_id' | 'date',
): Query {
  const sql = `SELECT ${by === 'date' ? date : 'campaign_id'} AS key, event_type, count() AS events,
  toInt64(ifNull(sum(spend), 0) * 1000000) AS micros
FROM events
WHERE organization_id = {organization:UUID}
  AND project_id IN {projects:Array(UUID)}
  AND source = 'svcdsp'
  AND campaign_id IN {campaigns:Array(String)}${startDate ? `\n  AND ${date} >= {start:Date}` : ''}${
    endDate ? `\n  AND ${date} <= {end:Date}` : ''
  }
GROUP BY key, event_type
ORDER BY key`
  return {
    sql,
    params: {
      organization: organizationId,
      projects: [...new Set(campaigns.map(({ project_id }) => project_id))],
      campaigns: campaigns.map(({ campaign_id }) => campaign_id),
      ...(startDate && { start: startDate }),
      ...(endDate && { end: endDate }),
    },
  }
}

/** Returns metrics in the form of the spec (Campaign performance). */
export const metricsOf = ({ impressions, clicks, spendMicros }: Delivered): Metrics => ({
  impressions,
  clicks,
  spend: spendMicros / 1e6,
  ctr: impressions === 0 ? 0 : toSixDecimals(clicks / impressions),
  cpm: impressions === 0 ? 0 : toSixDecimals(spendMicros / 1e3 / impressions),
})

export const dailyOf = (days: ReadonlyMap<string, Delivered>): Static<typeof Daily> =>
  [...days].map(([day, { impressions, clicks, spendMicros }]) => ({
    date: day,
    impressions,
    clicks,
    spend: spendMicros / 1e6,
  }))

export const toSixDecimals = (number: number): number => Math.round(number * 1e6) / 1e6
