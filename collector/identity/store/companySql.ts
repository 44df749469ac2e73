import { companyFields } from '../../../schemas/fields.ts'
import type { Query } from '../../platform/clickhouse/client.ts'

/**
 * SQL: the domain of the company that an address belongs to, or the empty text. `address` is SQL of an IPv4
 * or IPv6 address as text.
 */
export const companyOfAddress = (address: string): string =>
  `dictGetOrDefault('company_by_network', 'company_domain', tuple(toIPv6OrDefault(${address})), '')`

/** Key to look up a company: its domain, lower-cased and without www, or one of its addresses. */
export type CompanyKey = { readonly domain: string } | { readonly address: string }

/** The company fields of that company; no row for an unknown one. */
export function companyQuery(key: CompanyKey): Query {
  // In brackets of its own it is known before the table is read, so the primary key finds it.
  const domain =
    'domain' in key ? '{domain:String}' : `(SELECT ${companyOfAddress('{address:String}')})`
  return { sql: `${companies} WHERE company_domain = ${domain}`, params: { ...key } }
}

/** The companies at these domains. */
export const companiesQuery = (domains: readonly string[]): Query => ({
  sql: `${companies} WHERE company_domain IN {domains:Array(String)}`,
  params: { domains },
})

/** SQL of the companies that meet a condition: their domains. */
export const companiesWhere = (conditions: readonly string[]): string =>
  `SELECT company_domain FROM companies FINAL WHERE ${conditions.join(' AND ')}`

const companies = `SELECT ${companyFields.map(({ name }) => name).join(', ')} FROM companies FINAL`
