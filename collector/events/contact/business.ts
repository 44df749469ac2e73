import providers from 'email-providers'

/** The lists that hasBusinessEmail asks about: tables with one column `value`. */
export const businessLists: Readonly<Record<string, readonly string[]>> = {
  mail_providers: providers,
}

const domainOf = (address: string): string =>
  `lower(trim(splitByChar('@', ifNull(${address}, ''))[-1]))`

const isAtCompany = (domain: string): string =>
  `${domain} != '' AND ${domain} NOT IN (SELECT value FROM mail_providers)`

const company = "lower(ifNull(company_domain, ''))"
const domain = domainOf('email')

/**
 * SQL: whether a person has a business e-mail, which is what a contact query charges for (spec: Metering 4): an address
 * in business_email; where that is empty, the one in email, when it is at company_domain or below it. An address at a
 * public mail provider is neither.
 */
export const hasBusinessEmail = `if(ifNull(business_email, '') != '', ${isAtCompany(domainOf('business_email'))},
  ${company} != '' AND (${domain} = ${company} OR endsWith(${domain}, concat('.', ${company}))) AND ${isAtCompany(domain)})`
