import { mailProviders } from '../../identity/store/mailProviders.ts'
import { peopleWhere, personKey } from '../../identity/store/profileSql.ts'
import type { ListQuery } from '../../platform/clickhouse/client.ts'
import { bindings } from '../query/bind.ts'
import { profileFilterCondition } from '../query/profiles/profileFilter.ts'
import type { ContactPlan } from './contactRequest.ts'

/** A row of contactQuery: a person, and the profile used for the person. */
export interface ContactRow {
  /** Identifies and orders people. */
  person_key: string
  hem_text: string
}

/**
 * Selects people who match the filters, have a business e-mail and have not opted out of the organization,
 * sorted by key. Returns one more than the limit, which shows that there are more. If several profiles of a
 * person match, the one loaded last is used. People without a business e-mail are not charged, so they must
 * not appear.
 */
export function contactQuery(
  { filters, limit, after }: ContactPlan,
  organizationId: string,
): ListQuery {
  const { bind, params } = bindings()
  const where = [
    ...filters.map((filter) => profileFilterCondition(filter, bind)),
    ...(after === null ? [] : [`person_key > ${bind('String', after)}`]),
  ]
  const columns = [
    `${personKey} AS person_key`,
    'toString(hem) AS hem_text',
    'business_email',
    'email',
    'company_domain',
  ]
  const sql = `SELECT person_key, hem_text FROM (
${peopleWhere(columns, where, bind('UUID', organizationId))}
ORDER BY person_key, updated_at DESC, hem
LIMIT 1 BY person_key
)
WHERE ${hasBusinessEmail}
ORDER BY person_key
LIMIT ${bind('UInt32', limit + 1)}`
  return { sql, params, lists: businessLists }
}

/** The lists that hasBusinessEmail reads: tables with one column `value`. */
const businessLists: Readonly<Record<string, readonly string[]>> = {
  mail_providers: mailProviders,
}

const domainOf = (address: string): string =>
  `lower(trim(splitByChar('@', ifNull(${address}, ''))[-1]))`

const isAtCompany = (domain: string): string =>
  `${domain} != '' AND ${domain} NOT IN (SELECT value FROM mail_providers)`

const company = "lower(ifNull(company_domain, ''))"
const domain = domainOf('email')

/**
 * SQL: whether a person has a business e-mail, for which a contact query charges (spec: Metering 4). It is
 * the address in business_email. If that is empty, it is the one in email, if its domain is company_domain or
 * below it. Addresses at public mail providers do not count.
 */
const hasBusinessEmail = `if(ifNull(business_email, '') != '', ${isAtCompany(domainOf('business_email'))},
  ${company} != '' AND (${domain} = ${company} OR endsWith(${domain}, concat('.', ${company}))) AND ${isAtCompany(domain)})`
