import { mailProviders } from '../../identity/store/mailProviders.ts'

/** The lists that hasBusinessEmail reads: tables with one column `value`. */
export const businessLists: Readonly<Record<string, readonly string[]>> = {
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
export const hasBusinessEmail = `if(ifNull(business_email, '') != '', ${isAtCompany(domainOf('business_email'))},
  ${company} != '' AND (${domain} = ${company} OR endsWith(${domain}, concat('.', ${company}))) AND ${isAtCompany(domain)})`
