import { companyFields, profileFields } from '../../../schemas/fields.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { profileRowsOf } from '../../platform/clickhouse/profileRows.ts'
import { reloadIdentity } from '../store/refresh.ts'
import { fillCompanies } from './fillCompanies.ts'
import {
  domainValue,
  fieldValue,
  hemValue,
  networkValue,
  reasonOf,
  time,
  type Value,
} from './valuesSql.ts'

/** Returns SQL of the text of a field in the file; null if the file lacks the field. */
export type RawOf = (field: string) => string | null

export interface Target {
  readonly table: string
  readonly fields: readonly string[]
  /** Required fields: one of each list. */
  readonly required: readonly (readonly string[])[]
  /** Whether rows belong to an organization, or are shared. */
  readonly isScoped: boolean
  /**
   * The columns of the table. `{started:DateTime64(3)}` is the time when the load began,
   * `{organization:UUID}` the owner.
   */
  values(rawOf: RawOf): Value[]
  /** A table with another form of each row, and SQL that selects one such row for each row of a table. */
  readonly copy?: { readonly table: string; select(from: string): string }
  /** Completes the rows in the staging table `table` before readers see them. */
  complete?(clickhouse: ClickHouse, table: string): Promise<void>
  /** Makes readers use the new content of the tables. */
  reload?(clickhouse: ClickHouse): Promise<void>
}

/** SQL: the time when the load began. */
export const started = "toDateTime64({started:String}, 3, 'UTC')"
/** The version by which rows replace each other. */
export const updatedAt: Value = { column: 'updated_at', sql: started }
const nothing = "''"

const given = (fields: typeof profileFields, rawOf: RawOf): Value[] =>
  fields.flatMap((field) => {
    const raw = rawOf(field.name)
    return raw === null ? [] : fieldValue(field, raw)
  })

const identity = { reload: reloadIdentity }

const hemOrEmail = ['hem', 'email'] as const
const hemOf = (rawOf: RawOf): Value => hemValue(rawOf('hem') ?? nothing, rawOf('email') ?? nothing)

const profiles: Target = {
  ...identity,
  table: 'profiles',
  fields: ['hem', ...profileFields.map(({ name }) => name)],
  required: [hemOrEmail],
  isScoped: false,
  values: (rawOf) => [hemOf(rawOf), ...given(profileFields, rawOf), updatedAt],
  copy: { table: 'profile_rows', select: profileRowsOf },
  complete: fillCompanies,
}

const links: Target = {
  ...identity,
  table: 'identity_links',
  fields: ['cookie_id', 'hem', 'email', 'confidence', 'observed_at'],
  required: [['cookie_id'], hemOrEmail],
  isScoped: true,
  values: (rawOf) => [
    cookieValue(rawOf('cookie_id') ?? nothing),
    hemOf(rawOf),
    ...[rawOf('confidence')].flatMap((raw) => (raw === null ? [] : confidenceValue(raw))),
    observedValue(rawOf('observed_at') ?? nothing),
    { column: 'organization_id', sql: '{organization:UUID}' },
    { column: 'source', sql: "'loaded'" },
    { column: 'stored_at', sql: started },
  ],
}

const cookieValue = (raw: string): Value => ({
  column: 'cookie_id',
  sql: `toUUIDOrZero(${raw})`,
  wrong: {
    when: `isNull(toUUIDOrNull(${raw}))`,
    reason: reasonOf('cookie_id', raw, 'is not a UUID'),
  },
})

const confidenceValue = (raw: string): Value => ({
  column: 'confidence',
  sql: `if(${raw} = '', 1, toFloat32OrZero(${raw}))`,
  wrong: {
    when: `(${raw} != '' AND NOT ifNull(toFloat64OrNull(${raw}) BETWEEN 0 AND 1, false))`,
    reason: reasonOf('confidence', raw, 'is not a number from 0 to 1'),
  },
})

/** The time of the load is the default and the maximum, because a future time would always rank first. */
const observedValue = (raw: string): Value => ({
  column: 'observed_at',
  sql: `least(ifNull(${time(raw)}, ${started}), ${started})`,
  wrong: {
    when: `(${raw} != '' AND isNull(${time(raw)}))`,
    reason: reasonOf('observed_at', raw, 'is not a time'),
  },
})

const companies: Target = {
  ...identity,
  table: 'companies',
  fields: companyFields.map(({ name }) => name),
  required: [['company_domain']],
  isScoped: false,
  values: (rawOf) => [
    domainValue(rawOf('company_domain') ?? nothing),
    ...given(
      companyFields.filter(({ name }) => name !== 'company_domain'),
      rawOf,
    ),
    updatedAt,
  ],
}

const networks: Target = {
  ...identity,
  table: 'company_networks',
  fields: ['network', 'company_domain'],
  required: [['network'], ['company_domain']],
  isScoped: false,
  values: (rawOf) => [
    networkValue(rawOf('network') ?? nothing),
    domainValue(rawOf('company_domain') ?? nothing),
    updatedAt,
  ],
}

export type Targets = Readonly<Record<string, Target>>

export const targets: Targets = { profiles, links, companies, networks }
