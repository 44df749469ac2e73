import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { OutboundError } from './outboundError.ts'

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

/** Global IPv6 addresses; others are unassigned or for special purposes. */
const globalUnicast = ipaddr.parseCIDR('2000::/3') as [ipaddr.IPv6, number]

/** Azure's internal service for its virtual machines, which has a public address. */
const wireServer = '168.63.129.16'

/** Addresses inside the network that the operator allows for requests (FOOTFALL_OUTBOUND_ALLOW). */
export interface AllowedAddresses {
  host(name: string): boolean
  address(address: string): boolean
}

/** Parses FOOTFALL_OUTBOUND_ALLOW: host names, addresses and CIDR ranges. Throws for an invalid range. */
export function allowAddresses(entries: readonly string[]): AllowedAddresses {
  const names = new Set<string>()
  const ranges: Range[] = []
  for (const entry of entries) {
    if (entry.includes('/')) ranges.push(ipaddr.parseCIDR(entry))
    else if (isIP(entry)) {
      const address = ipaddr.process(entry)
      ranges.push([address, address.kind() === 'ipv4' ? 32 : 128])
    } else names.add(nameOf(entry))
  }
  return {
    host: (name) => names.has(nameOf(name)),
    address: (address) => {
      const parsed = ipaddr.process(address)
      return ranges.some((range) => parsed.kind() === range[0].kind() && parsed.match(range))
    },
  }
}

const nameOf = (host: string): string => host.toLowerCase().replace(/\.$/, '')

/**
 * Whether an address belongs to the public Internet. Addresses of this machine, its network and the network's
 * provider do not, nor do their translations (IPv4-mapped, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(address: string): boolean {
  if (!isIP(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast' || parsed.toString() === wireServer) return false
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast)
}

/** One internal address of a host is enough for a refusal: throws OutboundError. */
export function requireReachable(
  allowed: AllowedAddresses,
  host: string,
  addresses: readonly string[],
): void {
  if (allowed.host(host)) return
  if (addresses.every((address) => isPublicAddress(address) || allowed.address(address))) return
  throw new OutboundError('address_refused', `${host} is not on the public Internet.`)
}
