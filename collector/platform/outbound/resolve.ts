import { Resolver, lookup as systemLookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { type AllowedAddresses, requireReachable } from './addresses.ts'
import { OutboundError } from './outboundError.ts'

/** Returns all addresses of a host after checking that each is allowed. Throws OutboundError. */
export type Resolve = (host: string) => Promise<string[]>

const answerMs = 3_000
const tries = 2

/**
 * Creates the function that resolves a host and checks every address. It queries DNS servers over sockets.
 * The system's lookup would block one of four threads for as long as a foreign name server delays, and also
 * resolves local names. It is used only for hosts that the operator allowed.
 */
export function createResolve(allowed: AllowedAddresses, nameServers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: answerMs, tries })
  if (nameServers) resolver.setServers(nameServers)
  return async (host) => {
    const addresses = await addressesOf(resolver, allowed, host)
    requireReachable(allowed, host, addresses)
    return addresses
  }
}

async function addressesOf(
  resolver: Resolver,
  allowed: AllowedAddresses,
  host: string,
): Promise<string[]> {
  if (isIP(host)) return [host]
  if (allowed.host(host)) {
    const found = await systemLookup(host, { all: true }).catch(() => [])
    if (found.length > 0) return found.map(({ address }) => address)
  }
  const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const addresses = found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (addresses.length === 0)
    throw new OutboundError('not_resolved', `${host} has no address in the DNS.`)
  return addresses
}
