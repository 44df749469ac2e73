import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** The first address of a network, and the length of its prefix in bits. */
type Network = readonly [Address, number]

/** A shorter prefix would ignore a large part of the Internet; private networks have these or longer ones. */
const shortestPrefix = { ipv4: 8, ipv6: 7 }
const mappedPrefix = 96

/** Parses an address or a network in CIDR notation. An IPv4-mapped network becomes the IPv4 network. */
export function readNetwork(text: string): Network | null {
  const [, address = '', prefix] = /^([\da-f.:]+)(?:\/(0|[1-9]\d{0,2}))?$/i.exec(text) ?? []
  const version = isIP(address)
  if (version === 0) return null
  const bits = version === 4 ? 32 : 128
  const length = prefix === undefined ? bits : Number(prefix)
  if (length > bits) return null
  const first = ipaddr.parse(address)
  if (!(first instanceof ipaddr.IPv6 && first.isIPv4MappedAddress())) return [first, length]
  return length < mappedPrefix ? null : [first.toIPv4Address(), length - mappedPrefix]
}

export function networkFault(text: string): string | undefined {
  const network = readNetwork(text)
  if (!network)
    return 'must be an IPv4 or IPv6 address or network, such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/48'
  const [address, length] = network
  if (length < shortestPrefix[address.kind()])
    return 'must be a network of /8 to /32 for IPv4 or /7 to /128 for IPv6; to stop collecting, deactivate the pixel'
}

export function networkMatcher(networks: readonly Network[]): (ip: string) => boolean {
  if (networks.length === 0) return () => false
  return (ip) => {
    if (!ipaddr.isValid(ip)) return false
    const address = ipaddr.process(ip)
    return networks.some(
      ([first, length]) => first.kind() === address.kind() && address.match(first as never, length),
    )
  }
}
