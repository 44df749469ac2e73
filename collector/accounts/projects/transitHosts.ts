import { Type } from 'typebox'
import { invalidParameter } from '../../api/http/errors.ts'
import { readHost } from '../../ingest/ignored/ignoreRules.ts'

const hostsMax = 100

export const TransitHosts = Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
  maxItems: hostsMax,
  description:
    'Hosts of your own sign-in, payment or other pages that visitors come back from, without scheme and port. A referrer of one of them, or of a host below a registrable domain such as `example.com`, starts no new session. Pages of known sign-in and payment providers start none either. Applies to new events.',
})

/** Returns the hosts in the form of referrers: lower case and ASCII. Throws 400 that names the first entry that is no host. */
export const transitHostsOf = (hosts: readonly string[] | undefined): string[] | undefined =>
  hosts?.map((text, index) => {
    const rule = readHost(text)
    if (rule && !rule.isWildcard) return rule.host
    throw invalidParameter(
      `transit_hosts[${index}]`,
      `must be a host without scheme, port and path, such as login.example.com (got ${JSON.stringify(text)})`,
    )
  })
