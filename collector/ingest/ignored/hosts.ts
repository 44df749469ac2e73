import { isIP } from 'node:net'

interface HostRule {
  /** The host in the form of `URL`: lower case and ASCII. */
  host: string
  /** Whether the rule matches only the hosts below `host`. */
  isWildcard: boolean
}

const hostName = /^[^\s/?#@%*\\:[\]]+$/
const ipv6Host = /^\[[\da-f:.]+\]$/i

/** Parses a host, or `*.` and a host. */
export function readHost(text: string): HostRule | null {
  const isWildcard = text.startsWith('*.')
  const name = isWildcard ? text.slice(2) : text
  const hasForm = hostName.test(name) || (!isWildcard && ipv6Host.test(name))
  if (!hasForm || !URL.canParse(`http://${name}/`)) return null
  const host = withoutFinalDot(new URL(`http://${name}/`).hostname)
  if (host === '' || (isWildcard && isIP(host) !== 0)) return null
  return { host, isWildcard }
}

export const hostFault = (text: string): string | undefined =>
  readHost(text)
    ? undefined
    : 'must be a host without scheme, port and path, such as staging.example.com or *.example.com'

export function hostMatcher(rules: readonly HostRule[]): (page: URL) => boolean {
  const exact = new Set(rules.filter(({ isWildcard }) => !isWildcard).map(({ host }) => host))
  const endings = rules.filter(({ isWildcard }) => isWildcard).map(({ host }) => `.${host}`)
  return ({ hostname }) => {
    const host = withoutFinalDot(hostname.toLowerCase())
    return exact.has(host) || endings.some((ending) => host.endsWith(ending))
  }
}

const withoutFinalDot = (host: string): string => (host.endsWith('.') ? host.slice(0, -1) : host)
