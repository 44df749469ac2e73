import ipaddr from 'ipaddr.js'
import type { CollectorSettings } from '../../../schemas/beacon.ts'

/** Returns the address to store with an event. Without consent, at most its network is stored. */
export function storedIp(
  ip: string,
  setting: CollectorSettings['ip'],
  hasConsent: boolean,
): string | null {
  if (setting === 'none') return null
  return setting === 'full' && hasConsent ? ip : networkAddress(ip)
}

/**
 * Returns the network of an address: /24 for IPv4, also if mapped to IPv6, and /48 for IPv6. Null for other
 * text.
 */
function networkAddress(ip: string): string | null {
  if (!ipaddr.isValid(ip)) return null
  const address = ipaddr.process(ip)
  if (address instanceof ipaddr.IPv4) return `${address.octets.slice(0, 3).join('.')}.0`
  const [first = 0, second = 0, third = 0] = address.parts
  // A 6to4 prefix contains a complete IPv4 address (RFC 3056).
  const networkWord = first === 0x2002 ? third & 0xff00 : third
  return new ipaddr.IPv6([first, second, networkWord, 0, 0, 0, 0, 0]).toString()
}
