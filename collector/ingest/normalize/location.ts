import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isIP } from 'node:net'
import { type CityResponse, Reader } from 'mmdb-lib'
import { StartError } from '../../platform/startError.ts'

/** Where an address is, as far as the database tells; the columns of the field table's group "location". */
export interface Location {
  /** ISO 3166-1 alpha-2. */
  country: string | null
  /** English names; only a database of cities has them. */
  region: string | null
  city: string | null
}

/** The location columns of an address as rows need them, JSON members without braces: `"country":"GB",…`. */
export type Locate = (address: string) => string

/** What ip-location-db's files hold; MaxMind's and DB-IP's are CityResponse. */
interface FlatResponse {
  country_code?: string
  state1?: string
  city?: string
}

const cachedMax = 10_000

/** The database that is used when the operator brings none: countries only. */
const ownDatabase = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb'

/**
 * Opens a database in MaxMind's format, `file` or our own when it is null. Looking up takes microseconds, so the
 * answers of the last addresses are cached, in memory only. Throws StartError for a file that cannot be used.
 */
export function openLocate(file: string | null): Locate {
  const reader = open(file ?? createRequire(import.meta.url).resolve(ownDatabase))
  const cache = new Map<string, string>()
  return (address) => {
    const known = cache.get(address)
    if (known !== undefined) return known
    const plain = withoutMapping(address)
    const fresh = locationMembers(locationIn(isIP(plain) ? reader.get(plain) : null))
    // Full: forget the one that came first. Common addresses come back at once.
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

/** A location as JSON members. */
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

/** An IPv4 address as a socket for both kinds has it: ::ffff:192.0.2.1. */
const withoutMapping = (address: string): string => address.replace(/^::ffff:(?=[\d.]+$)/i, '')
