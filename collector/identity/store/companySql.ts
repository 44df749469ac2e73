import { companyFields } from '../../../schemas/fields.ts'
import type { Query } from '../../platform/clickhouse/client.ts'

/** SQL of the domain of the company with an IP address, given as text; empty without one. */
export const companyOfAddress = (address: string): string =>
  `dictGetOrDefault('company_by_network', 'company_domain', tuple(toIPv6OrDefault(${address})), '')`

/** Key to look up a company: its domain, lower-cased and without www, or one of its addresses. */
export type CompanyKey = { readonly domain: string } | { readonly address: string }

/** Returns the query for the company fields of one company; no row for an unknown one. */
export function companyQuery(key: CompanyKey): Query {
  // A scalar subquery is evaluated before the table is read, so the primary key finds the domain.
  const domain =
    'domain' in key ? '{domain:String}' : `(SELECT ${companyOfAddress('{address:String}')})`
  return { sql: `${companies} WHERE company_domain = ${domain}`, params: { ...key } }
}

export const companiesQuery = (domains: readonly string[]): Query => ({
  sql: `${companies} WHERE company_domain IN {domains:Array(String)}`,
  params: { domains },
})

export const companiesWhere = (conditions: readonly string[]): string =>
  `SELECT company_domain FROM companies FINAL WHERE ${conditions.join(' AND ')}`

const companies = `SELECT ${companyFields.map(({ name }) => name).join(', ')} FROM companies FINAL`
