/** The four price tiers of the events API, cheapest first (spec: Events, version 3). */
export const tiers = [
  'web_event',
  'resolution_hem',
  'resolution_hem_pte',
  'resolution_full_profile',
] as const
export type Tier = (typeof tiers)[number]

/** API data types, as schema responses name them (spec: Schema metadata). */
export type DataType = 'Utf8' | 'Int64' | 'Float64' | 'Boolean' | 'Timestamp'

/** What fields are about; the catalog is read by these. */
export const groups = [
  'event',
  'page',
  'marketing',
  'device',
  'location',
  'identity',
  'pte',
  'contact',
  'company',
  'demographic',
] as const
export type Group = (typeof groups)[number]

export interface Field {
  /** The name in responses, `select`, `filter` and `distinct`; also the ClickHouse column. */
  readonly name: string
  /** The ClickHouse column type, codec included. */
  readonly columnType: string
  /** SQL the column is computed from when read; such a column is never written. */
  readonly alias?: string
  /**
   * SQL from which ClickHouse computes the column when it stores a row. For rows stored before the column
   * existed, reads compute it. Such a column is never written.
   */
  readonly materialized?: string
  readonly dataType: DataType
  readonly nullable: boolean
  /** SQL, over rows of `events`, of a value that is not the column's. */
  readonly sql?: string
  /** SQL of the value that the column stores where callers get null: a column of a key cannot store null. */
  readonly storedNull?: string
  /** The cheapest tier whose routes return it. */
  readonly tier: Tier
  readonly group: Group
  readonly description: string
  /**
   * `groups`: counts may be grouped by it, because it names no person, browser, address or single event.
   */
  readonly counts?: 'groups'
  /** True when it is no column but computed for a read, and returned only where the request names it. */
  readonly isOnlyNamed?: true
  /** True when the field holds one e-mail address: a value compared with it has no blanks around it. */
  readonly isAddress?: true
  /** All that the field may hold, where that is a fixed list. */
  readonly values?: readonly string[]
}

/** A field as responses show it (spec: Schema metadata); what follows nullable is an addition. */
export const publicField = ({
  name,
  dataType,
  nullable,
  tier,
  group,
  description,
  isOnlyNamed,
  values,
}: Field) => ({
  name,
  data_type: dataType,
  nullable,
  tier,
  group,
  description,
  ...(isOnlyNamed && { only_when_named: true }),
  ...(values && { values: [...values] }),
})

/** SQL of a field of events as callers get it. */
export const fieldSql = ({ name, sql = name, storedNull }: Field): string =>
  storedNull === undefined ? sql : `nullIf(${sql}, ${storedNull})`
