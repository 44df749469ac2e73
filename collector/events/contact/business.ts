import providers from 'email-providers'

const mailProviders = new Set(providers)

/** The fields of a person that say whether there is a business e-mail. */
export interface Addresses {
  business_email: string | null
  email: string | null
  company_domain: string | null
}

/**
 * Whether a person has a business e-mail, which is what a contact query charges for (spec: Metering 4): an address
 * in business_email; where that is empty, the one in email, when it is at company_domain or below it. An address at a
 * public mail provider is neither.
 */
export function hasBusinessEmail({ business_email, email, company_domain }: Addresses): boolean {
  if (business_email) return isAtCompany(domainOf(business_email))
  const domain = domainOf(email ?? '')
  const company = company_domain?.toLowerCase()
  if (!company || (domain !== company && !domain.endsWith(`.${company}`))) return false
  return isAtCompany(domain)
}

const domainOf = (address: string): string =>
  address
    .slice(address.lastIndexOf('@') + 1)
    .trim()
    .toLowerCase()

const isAtCompany = (domain: string): boolean => domain !== '' && !mailProviders.has(domain)
