import { companyFields, profileFields } from '../../../schemas/fields.ts'
import { chunked } from '../../platform/clickhouse/chunked.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { profileRowsOf } from '../../platform/clickhouse/profileRows.ts'
import { mailProviders } from '../store/mailProviders.ts'
import { reloadIdentity } from '../store/refresh.ts'
import {
  domainOf,
  domainValue,
  fieldValue,
  hemValue,
  networkValue,
  reasonOf,
  time,
  type Value,
} from './valuesSql.ts'

const names = companyFields.map(({ name }) => name)

/** The addresses of a profile in the order in which their domains are tried; the last ones name several addresses. */
const additionalMax = 5
const addresses = [
  'business_email',
  'email',
  'personal_email',
  ...Array.from(
    { length: additionalMax },
    (_, index) => `arrayElement(splitByChar(',', ifNull(additional_emails, '')), ${index + 1})`,
  ),
]
const hasNoDomain = "ifNull(company_domain, '') = ''"

/**
 * Fills each missing company field of profiles from the company at their `company_domain`. If they name none, it is the
 * first company at a domain of their addresses. Domains of mail providers do not count. The new rows are
 * milliseconds newer than the rows that they replace.
 */
async function fillCompanies(clickhouse: ClickHouse, table: string): Promise<void> {
  const providers = await providersAmongCompanies(clickhouse)
  await fill(clickhouse, table, { domain: domainOf("ifNull(company_domain, '')"), providers: [] })
  // A filled profile has a domain, so it is tried no further.
  for (const address of addresses) {
    const domain = `lower(substringIndex(trimBoth(ifNull(${address}, '')), '@', -1))`
    await fill(clickhouse, table, { domain, providers, where: hasNoDomain })
  }
}

/** Writes a complete row of each profile that `where` selects and whose company, at `domain`, is known. */
async function fill(
  clickhouse: ClickHouse,
  table: string,
  { domain, providers, where = 'true' }: { domain: string; providers: string[]; where?: string },
): Promise<void> {
  const filled = names.map((name) =>
    name === 'company_domain'
      ? 'company.company_domain AS company_domain'
      : `ifNull(person.${name}, company.${name}) AS ${name}`,
  )
  const isMissing = names
    .filter((name) => name !== 'company_domain')
    .map((name) => `person.${name} IS NULL AND company.${name} IS NOT NULL`)
  await clickhouse.command({
    sql: `INSERT INTO ${table}
     SELECT person.* EXCEPT (_domain) REPLACE (${filled.join(', ')}, person.updated_at + INTERVAL 1 MILLISECOND AS updated_at)
     FROM (
       SELECT *, ${domain} AS _domain FROM ${table} FINAL
       WHERE ${where} AND _domain NOT IN {providers:Array(String)} AND _domain IN (SELECT company_domain FROM companies)
     ) AS person
     JOIN companies AS company FINAL ON company.company_domain = person._domain
     WHERE ifNull(person.company_domain, '') = '' OR ${isMissing.join(' OR ')}`,
    params: { providers },
  })
}

/** Mail providers that are companies themselves; few are. */
async function providersAmongCompanies(clickhouse: ClickHouse): Promise<string[]> {
  const found = await Promise.all(
    chunked([...mailProviders]).map((domains) =>
      clickhouse.rows<{ company_domain: string }>({
        sql: 'SELECT DISTINCT company_domain FROM companies WHERE company_domain IN {domains:Array(String)}',
        params: { domains },
      }),
    ),
  )
  return found.flat().map(({ company_domain }) => company_domain)
}

/** Returns SQL of the text of a field in the file; null if the file lacks the field. */
export type RawOf = (field: string) => string | null

export interface Target {
  readonly table: string
  readonly fields: readonly string[]
  /** Required fields: one of each list. */
  readonly required: readonly (readonly string[])[]
  /** Whether rows belong to an organization, or are shared. */
  readonly isScoped: boolean
  /** `{started:DateTime64(3)}` is when the load began, `{organization:UUID}` the owner. */
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
