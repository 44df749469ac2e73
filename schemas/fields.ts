/**
 * The field table: every readable event column, once. The `events` DDL, `select` and `filter` checks, schema
 * routes, the field catalog, metering and the OpenAPI description are all derived from it, so a column is
 * added here and nowhere else.
 */

/** The four price tiers of the events API, cheapest first (spec: Events, version 3). */
export const tiers = ['web_event', 'resolution_hem', 'resolution_hem_pte', 'resolution_full_profile'] as const
export type Tier = (typeof tiers)[number]

/** API data types, as schema responses name them (spec: Schema field metadata). */
export type DataType = 'Utf8' | 'Int64' | 'Float64' | 'Boolean' | 'Timestamp'

export interface Field {
  /** The name in responses, `select`, `filter` and `distinct`; also the ClickHouse column. */
  readonly name: string
  /** The ClickHouse column type, codec included. */
  readonly columnType: string
  /** SQL the column is computed from when read; such a column is never written. */
  readonly alias?: string
  readonly dataType: DataType
  readonly nullable: boolean
  /** The cheapest tier whose routes return it. */
  readonly tier: Tier
  readonly group: 'event' | 'page' | 'device' | 'identity'
  readonly description: string
}

export const fields: readonly Field[] = [
  {
    name: 'event_id',
    columnType: 'UUID',
    dataType: 'Utf8',
    nullable: false,
    tier: 'web_event',
    group: 'event',
    description: 'The id its sender gave the event. The same id sent again is the same event.',
  },
  {
    name: 'event_type',
    columnType: 'LowCardinality(String)',
    dataType: 'Utf8',
    nullable: false,
    tier: 'web_event',
    group: 'event',
    description: 'page_view, click, scroll_depth, copy, form_submission, search, video, download or custom.',
  },
  {
    name: 'ts_millis',
    columnType: 'Int64 CODEC(Delta, ZSTD(1))',
    dataType: 'Int64',
    nullable: false,
    tier: 'web_event',
    group: 'event',
    description: 'When it happened, Unix epoch milliseconds, corrected where the visitor’s clock was wrong.',
  },
  {
    name: 'timestamp',
    columnType: "DateTime64(3, 'UTC')",
    alias: "fromUnixTimestamp64Milli(ts_millis, 'UTC')",
    dataType: 'Timestamp',
    nullable: false,
    tier: 'web_event',
    group: 'event',
    description: 'ts_millis as an ISO 8601 time in UTC.',
  },
  {
    name: 'resolved',
    columnType: 'Nullable(Bool)',
    alias: "dictHas('identity_by_cookie', (organization_id, cookie_id))",
    dataType: 'Boolean',
    nullable: true,
    tier: 'web_event',
    group: 'event',
    description: 'True when the visitor was identified.',
  },
  {
    name: 'event_data',
    columnType: 'String CODEC(ZSTD(1))',
    dataType: 'Utf8',
    nullable: false,
    tier: 'web_event',
    group: 'event',
    description: 'The type’s own details, as a JSON string. Filters may reach into it: event_data.url:eq:…',
  },
  {
    name: 'cookie_id',
    columnType: 'UUID',
    dataType: 'Utf8',
    nullable: false,
    tier: 'web_event',
    group: 'event',
    description: 'The visitor’s browser; without consent an id that changes every day and is kept nowhere.',
  },
  {
    name: 'user_agent',
    columnType: 'String CODEC(ZSTD(1))',
    dataType: 'Utf8',
    nullable: false,
    tier: 'web_event',
    group: 'device',
    description: 'The User-Agent header the event came with.',
  },
  {
    name: 'referrer_url',
    columnType: 'Nullable(String) CODEC(ZSTD(1))',
    dataType: 'Utf8',
    nullable: true,
    tier: 'web_event',
    group: 'page',
    description: 'Where the visitor came from: the page view’s referrer; null when there was none.',
  },
  {
    name: 'client_ip',
    columnType: 'String CODEC(ZSTD(1))',
    dataType: 'Utf8',
    nullable: false,
    tier: 'web_event',
    group: 'device',
    description: 'The address the event came from, IPv4 or IPv6.',
  },
  {
    name: 'pixel_id',
    columnType: 'UUID',
    dataType: 'Utf8',
    nullable: false,
    tier: 'web_event',
    group: 'event',
    description: 'The pixel that captured the event.',
  },
  {
    name: 'project_id',
    columnType: 'UUID',
    dataType: 'Utf8',
    nullable: false,
    tier: 'web_event',
    group: 'event',
    description: 'The project the pixel belongs to.',
  },
  {
    name: 'source',
    columnType: "LowCardinality(String) DEFAULT 'pixel'",
    dataType: 'Utf8',
    nullable: false,
    tier: 'web_event',
    group: 'event',
    description: 'pixel, or svcdsp for events of DSP campaigns.',
  },
  {
    name: 'campaign_id',
    columnType: 'Nullable(String)',
    dataType: 'Utf8',
    nullable: true,
    tier: 'web_event',
    group: 'event',
    description: 'The DSP campaign of an svcdsp event.',
  },
  {
    name: 'spend',
    columnType: 'Nullable(Decimal(18, 6))',
    dataType: 'Float64',
    nullable: true,
    tier: 'web_event',
    group: 'event',
    description: 'What an svcdsp event cost, in the currency of its campaign’s budget.',
  },
  {
    name: 'page_url',
    columnType: 'String CODEC(ZSTD(1))',
    dataType: 'Utf8',
    nullable: false,
    tier: 'web_event',
    group: 'page',
    description: 'The page the event happened on.',
  },
  {
    name: 'page_host',
    columnType: 'LowCardinality(String)',
    dataType: 'Utf8',
    nullable: false,
    tier: 'web_event',
    group: 'page',
    description: 'Host of page_url; empty where page_url is not an absolute URL.',
  },
  {
    name: 'page_path',
    columnType: 'String CODEC(ZSTD(1))',
    dataType: 'Utf8',
    nullable: false,
    tier: 'web_event',
    group: 'page',
    description: 'Path of page_url, without query and fragment.',
  },
  {
    name: 'browser',
    columnType: 'LowCardinality(Nullable(String))',
    dataType: 'Utf8',
    nullable: true,
    tier: 'web_event',
    group: 'device',
    description: 'Browser name read from the user agent.',
  },
  {
    name: 'browser_version',
    columnType: 'LowCardinality(Nullable(String))',
    dataType: 'Utf8',
    nullable: true,
    tier: 'web_event',
    group: 'device',
    description: 'Browser version read from the user agent.',
  },
  {
    name: 'os',
    columnType: 'LowCardinality(Nullable(String))',
    dataType: 'Utf8',
    nullable: true,
    tier: 'web_event',
    group: 'device',
    description: 'Operating system read from the user agent.',
  },
  {
    name: 'os_version',
    columnType: 'LowCardinality(Nullable(String))',
    dataType: 'Utf8',
    nullable: true,
    tier: 'web_event',
    group: 'device',
    description: 'Operating system version read from the user agent.',
  },
  {
    name: 'device_type',
    columnType: 'LowCardinality(String)',
    dataType: 'Utf8',
    nullable: false,
    tier: 'web_event',
    group: 'device',
    description: 'desktop, mobile, tablet, smarttv, console, wearable or embedded.',
  },
  {
    name: 'is_bot',
    columnType: 'Bool',
    dataType: 'Boolean',
    nullable: false,
    tier: 'web_event',
    group: 'device',
    description: 'True when the sender looks automated; such events are marked, not dropped.',
  },
  {
    name: 'bot_reason',
    columnType: 'LowCardinality(Nullable(String))',
    dataType: 'Utf8',
    nullable: true,
    tier: 'web_event',
    group: 'device',
    description: 'What gave the bot away; null for people.',
  },
  {
    name: 'received_at',
    columnType: "DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))",
    dataType: 'Timestamp',
    nullable: false,
    tier: 'web_event',
    group: 'event',
    description: 'When the collector received it, ISO 8601 in UTC.',
  },
]

const tierRank = new Map<Tier, number>(tiers.map((tier, rank) => [tier, rank]))
const byName = new Map(fields.map((field) => [field.name, field]))

/** The field of that name, whatever its tier; undefined when there is none. */
export const fieldNamed = (name: string): Field | undefined => byName.get(name)

/** True when routes of `tier` may return `field`. */
export const isReadableAt = (field: Field, tier: Tier): boolean =>
  tierRank.get(field.tier)! <= tierRank.get(tier)!

/** The fields a route of `tier` returns when nothing is selected, in the order of the table. */
export const fieldsAt = (tier: Tier): readonly Field[] => fields.filter((field) => isReadableAt(field, tier))
