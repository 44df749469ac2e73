import { isIPv6 } from 'node:net'

/**
 * Whom a limit per address counts together: an IPv4 address, or of IPv6 the network of /64, for one machine has all
 * addresses of it.
 */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped) return mapped
  // Written as URLs write it: shortest, in lower case, without dots.
  const { hostname } = new URL(`http://[${address.split('%')[0]}]`)
  const [start, end] = hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter(Boolean)) as [string[], string[] | undefined]
  const zeros = end ? Array<string>(8 - start.length - end.length).fill('0') : []
  return `${[...start, ...zeros, ...(end ?? [])].slice(0, 4).join(':')}::/64`
}
