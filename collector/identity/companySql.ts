/**
 * SQL: the domain of the company that an address belongs to, the empty text for nobody's. `address` is SQL of an
 * IPv4 or IPv6 address as text.
 */
export const companyOfAddress = (address: string): string =>
  `dictGetOrDefault('company_by_network', 'company_domain', tuple(toIPv6OrDefault(${address})), '')`
