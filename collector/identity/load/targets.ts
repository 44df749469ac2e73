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

/** SQL of the text that a file gives for a field; null for a field that it does not have. */
export type RawOf = (field: string) => string | null

/** What files can be loaded into. */
export interface Target {
  /** Its table, and what rows of it are called. */
  readonly table: string
  /** Fields that a file may contain. */
  readonly fields: readonly string[]
  /** Fields without which no row can be taken: one of each list. */
  readonly required: readonly (readonly string[])[]
  /** True: rows are an organization's, or everybody's. */
  readonly isScoped: boolean
  /** The columns of the table. `{started:DateTime64(3)}` is when the load began, `{organization:UUID}` whose it is. */
  values(rawOf: RawOf): Value[]
  /** A table that has each row once more in another form, and SQL of the rows that those of a table make, one each. */
  readonly copy?: { readonly table: string; select(from: string): string }
  /** Completes the rows that wait in `table` before readers see them. */
  complete?(clickhouse: ClickHouse, table: string): Promise<void>
  /** Has readers know what the tables have now. */
  reload?(clickhouse: ClickHouse): Promise<void>
}

/** SQL: when the load began. */
export const started = "toDateTime64({started:String}, 3, 'UTC')"
/** The version of rows that replace each other. */
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

/** When the load began where the file does not say, and never later: what lies ahead would count for ever. */
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

/** By the name that chooses them. */
export type Targets = Readonly<Record<string, Target>>

/** Targets of the identity store. */
export const targets: Targets = { profiles, links, companies, networks }
