/** Hashes addresses, where footfall('identify', …) is called: an address never leaves the page, its SHA-256 does. */

/** Needs https, as crypto.subtle does. */
const hashOf = async (email: string) => {
  const hash = await crypto.subtle.digest(
    'SHA-256',
    new TextEncoder().encode(
      email
        // Invisible characters, and the scheme and parameters of a link.
        .replace(/\p{Cf}|^\s*mailto:|\?.*/giu, '')
        .trim()
        .toLowerCase(),
    ),
  )
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The identity for the next beacon; undefined if the arguments contain none. */
export default async function identify({
  email,
  hem,
  source,
  signature,
}: {
  email?: string
  hem?: string
  /** The signature of the hash by the site's server. */
  signature?: string
  source?: 'form'
}) {
  const told = email ? await hashOf(email) : `${hem}`.toLowerCase()
  if (/^[\da-f]{64}$/.test(told)) return { hem: told, hem_source: source, hem_signature: signature }
}
