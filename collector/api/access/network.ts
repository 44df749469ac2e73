import ipaddr from 'ipaddr.js'

/**
 * Whom a limit per address counts together: an IPv4 address, or of IPv6 the network of /64, for one machine has all
 * addresses of it.
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  const groups = parsed.parts.slice(0, 4).map((part) => part.toString(16))
  return `${groups.join(':')}::/64`
}
