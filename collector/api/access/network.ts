import ipaddr from 'ipaddr.js'

/** The subject of a limit per address: an IPv4 address, or the /64 network that one machine can own. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  const groups = parsed.parts.slice(0, 4).map((part) => part.toString(16))
  return `${groups.join(':')}::/64`
}
