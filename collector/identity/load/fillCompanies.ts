import { companyFields } from '../../../schemas/fields.ts'
import { chunked } from '../../platform/clickhouse/chunked.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { mailProviders } from '../store/mailProviders.ts'
import { domainOf } from './valuesSql.ts'

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
export async function fillCompanies(clickhouse: ClickHouse, table: string): Promise<void> {
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
