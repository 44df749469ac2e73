import { ApiError } from '../../../api/client/index.ts'

/** A host that URL parses, but that no site has: URL encodes spaces and other characters of free text. */
const notOfHosts = /[^a-z0-9.:[\]-]/i

/** IPv4 and IPv6 addresses, which have no "www." before them. */
const ipAddress = /^(\d+\.){3}\d+$|^\[/

/**
 * Returns the origins of a site's address; none for an empty address. A domain also has the origin with or without
 * "www.". Throws 400 for the field `site` if the text is not an address.
 */
export function siteOrigins(address: string): string[] {
  const text = address.trim()
  if (text === '') return []
  const url = text.includes('://') ? text : `https://${text}`
  if (!URL.canParse(url)) throw notAnAddress()
  const { protocol, host, hostname } = new URL(url)
  if (!/^https?:$/.test(protocol) || notOfHosts.test(hostname)) throw notAnAddress()
  const isDomain = hostname.includes('.') && !ipAddress.test(hostname)
  if (!isDomain) return [`${protocol}//${host}`]
  const other = host.startsWith('www.') ? host.slice('www.'.length) : `www.${host}`
  return [host, other].map((host) => `${protocol}//${host}`)
}

const notAnAddress = () =>
  new ApiError(400, 'invalid_parameter', 'Must be an address, such as https://example.com', {
    details: { parameter: 'site' },
  })
