import { companyFields } from '../../../schemas/fields.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'

/**
 * Fills the company fields of profiles that have none, from the company at the domain of their business
 * e-mail. The new rows are a millisecond newer than the rows that they replace.
 */
export async function fillCompanies(clickhouse: ClickHouse, table: string): Promise<void> {
  const names = companyFields.map(({ name }) => name)
  const domain = "lower(substringIndex(business_email, '@', -1))"
  await clickhouse.command({
    sql: `INSERT INTO ${table}
     SELECT person.* REPLACE (${names.map((name) => `company.${name} AS ${name}`).join(', ')}, person.updated_at + INTERVAL 1 MILLISECOND AS updated_at)
     FROM (
       SELECT * FROM ${table} FINAL
       WHERE ${names.map((name) => `${name} IS NULL`).join(' AND ')}
         AND ${domain} IN (SELECT company_domain FROM companies)
     ) AS person
     JOIN companies AS company FINAL ON company.company_domain = ${domain}`,
    params: {},
  })
}
