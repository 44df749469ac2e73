import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { type CityResponse, Reader } from 'mmdb-lib'
import type { CollectorSettings } from '../../../schemas/beacon.ts'
import { StartError } from '../../platform/startError.ts'

/**
 * The location of an address according to the database; the columns of the field table's group "location".
 */
export interface Location {
  /** ISO 3166-1 alpha-2. */
  country: string | null
  /** English names; only a database of cities has them. */
  region: string | null
  city: string | null
}

/** Returns the location columns of an address as JSON members without braces: `"country":"GB",…`. */
export type Locate = (address: string) => string

/** The records of ip-location-db's files; those of MaxMind and DB-IP are CityResponse. */
interface FlatResponse {
  country_code?: string
  state1?: string
  city?: string
}

const cachedMax = 10_000

/** The default database, which has only countries. */
const ownDatabase = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb'

/**
 * Opens a database in MaxMind's format: `file`, or our own if it is null. A lookup takes microseconds, so
 * recent results are cached, in memory only. Throws StartError for an unusable file.
 */
export function openLocate(file: string | null): Locate {
  const reader = open(file ?? createRequire(import.meta.url).resolve(ownDatabase))
  const cache = new Map<string, string>()
  return (address) => {
    const cached = cache.get(address)
    if (cached !== undefined) return cached
    const plain = withoutMapping(address)
    const fresh = locationMembers(locationIn(isIP(plain) ? reader.get(plain) : null))
    // The cache is full, so the oldest entry is evicted. Common addresses return at once.
    if (cache.size >= cachedMax) cache.delete(cache.keys().next().value!)
    cache.set(address, fresh)
    return fresh
  }
}

type Answer = (CityResponse | FlatResponse) | null

function open(file: string): Reader<CityResponse> {
  try {
    return new Reader<CityResponse>(readFileSync(file))
  } catch (error) {
    throw new StartError(
      `FOOTFALL_IP_DATABASE ${file} cannot be read as a MaxMind database: ${(error as Error).message}`,
    )
  }
}

export const locationMembers = (location: Location): string => JSON.stringify(location).slice(1, -1)

function locationIn(answer: Answer): Location {
  if (answer === null) return { country: null, region: null, city: null }
  if ('country_code' in answer) {
    return {
      country: answer.country_code || null,
      region: answer.state1 || null,
      city: (answer.city as string | undefined) || null,
    }
  }
  const { country, subdivisions, city } = answer as CityResponse
  return {
    country: country?.iso_code ?? null,
    region: subdivisions?.[0]?.names.en ?? null,
    city: city?.names.en ?? null,
  }
}

/** Removes the prefix of an IPv4 address on a dual-stack socket: ::ffff:192.0.2.1. */
const withoutMapping = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/i, '')

/** Returns the address to store with an event. Without consent, at most its network is stored. */
export function storedIp(
  ip: string,
  setting: CollectorSettings['ip'],
  hasConsent: boolean,
): string | null {
  if (setting === 'none') return null
  return setting === 'full' && hasConsent ? ip : networkAddress(ip)
}

/** The network of an address: /24 for IPv4, /48 for IPv6. Null for other text. */
function networkAddress(ip: string): string | null {
  if (!ipaddr.isValid(ip)) return null
  const address = ipaddr.process(ip)
  if (address instanceof ipaddr.IPv4) return `${address.octets.slice(0, 3).join('.')}.0`
  const [first = 0, second = 0, third = 0] = address.parts
  // A 6to4 prefix contains a complete IPv4 address (RFC 3056).
  const networkWord = first === 0x2002 ? third & 0xff00 : third
  return new ipaddr.IPv6([first, second, networkWord, 0, 0, 0, 0, 0]).toString()
}
