import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { IgnoredTraffic, IgnoreSetting } from '../../../schemas/ignored.ts'

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

const hostFault = (text: string): string | undefined =>
  readHost(text)
    ? undefined
    : 'must be a host without scheme, port and path, such as staging.example.com or *.example.com'

function hostMatcher(rules: readonly HostRule[]): (page: URL) => boolean {
  const exact = new Set(rules.filter(({ isWildcard }) => !isWildcard).map(({ host }) => host))
  const endings = rules.filter(({ isWildcard }) => isWildcard).map(({ host }) => `.${host}`)
  return ({ hostname }) => {
    const host = withoutFinalDot(hostname.toLowerCase())
    return exact.has(host) || endings.some((ending) => host.endsWith(ending))
  }
}

const withoutFinalDot = (host: string): string => (host.endsWith('.') ? host.slice(0, -1) : host)

/** A path, percent-encoded in the form of `URL`, split at each `*`. */
type PathRule = readonly string[]

const pathForm = /^[/*][^?#\\\0-\x1f\x7f]*$/

/** Parses a path, or a pattern of a path with `*`. */
function readPath(text: string): PathRule | null {
  if (!pathForm.test(text)) return null
  const url = `http://host/${text.startsWith('/') ? text.slice(1) : text}`
  const path = new URL(url).pathname
  return (text.startsWith('/') ? path : path.slice(1)).split('*')
}

function pathFault(text: string): string | undefined {
  const rule = readPath(text)
  if (!rule)
    return 'must begin with "/" or "*" and have no query, such as /preview, /*/preview/* or *.pdf'
  if (matchesPath(rule, '/'))
    return 'must not match the path "/", because it ignores every page; to stop collecting, deactivate the pixel'
}

/** Tests whether a page's path matches a rule, in linear time. */
const pathMatcher =
  (rules: readonly PathRule[]): ((page: URL) => boolean) =>
  ({ pathname }) =>
    rules.some((rule) => matchesPath(rule, pathname))

/** The literals between two `*` are searched from left to right: the first place of each leaves the most for the rest. */
function matchesPath([head = '', ...literals]: PathRule, path: string): boolean {
  if (!path.startsWith(head)) return false
  const tail = literals.pop()
  if (tail === undefined)
    return path.length === head.length || head.endsWith('/') || path[head.length] === '/'
  let at = head.length
  for (const literal of literals) {
    const found = path.indexOf(literal, at)
    if (found === -1) return false
    at = found + literal.length
  }
  return path.length - tail.length >= at && path.endsWith(tail)
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** The first address of a network, and the length of its prefix in bits. */
type Network = readonly [Address, number]

/** A shorter prefix would ignore a large part of the Internet; private networks have these or longer ones. */
const shortestPrefix = { ipv4: 8, ipv6: 7 }
const mappedPrefix = 96

/** Parses an address or a network in CIDR notation. An IPv4-mapped network becomes the IPv4 network. */
function readNetwork(text: string): Network | null {
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

function networkFault(text: string): string | undefined {
  const network = readNetwork(text)
  if (!network)
    return 'must be an IPv4 or IPv6 address or network, such as 203.0.113.7, 203.0.113.0/24 or 2001:db8::/48'
  const [address, length] = network
  if (length < shortestPrefix[address.kind()])
    return 'must be a network of /8 to /32 for IPv4 or /7 to /128 for IPv6; to stop collecting, deactivate the pixel'
}

function networkMatcher(networks: readonly Network[]): (ip: string) => boolean {
  if (networks.length === 0) return () => false
  return (ip) => {
    if (!ipaddr.isValid(ip)) return false
    const address = ipaddr.process(ip)
    return networks.some(
      ([first, length]) => first.kind() === address.kind() && address.match(first as never, length),
    )
  }
}

/** The ignored traffic of a project, compiled for comparison with beacons. */
export interface IgnoreRules {
  ignoresAddress(ip: string): boolean
  /** Returns the setting that ignores the page at this URL; undefined if none does. */
  settingOfPage(url: unknown): IgnoreSetting | undefined
}

export const ignoreFaults: Record<IgnoreSetting, (entry: string) => string | undefined> = {
  ignored_networks: networkFault,
  ignored_hosts: hostFault,
  ignored_paths: pathFault,
}

/** Compiles the settings of a project once for all its beacons. An invalid entry ignores nothing. */
export function compileIgnoreRules(traffic: IgnoredTraffic): IgnoreRules {
  const isIgnoredHost = hostMatcher(
    traffic.ignored_hosts.map(readHost).filter((rule) => rule !== null),
  )
  const isIgnoredPath = pathMatcher(
    traffic.ignored_paths.map(readPath).filter((rule) => rule !== null),
  )
  const hasPageRules = traffic.ignored_hosts.length + traffic.ignored_paths.length > 0
  return {
    ignoresAddress: networkMatcher(
      traffic.ignored_networks.map(readNetwork).filter((rule) => rule !== null),
    ),
    settingOfPage(url) {
      if (!hasPageRules || typeof url !== 'string' || !URL.canParse(url)) return undefined
      const page = new URL(url)
      if (isIgnoredHost(page)) return 'ignored_hosts'
      return isIgnoredPath(page) ? 'ignored_paths' : undefined
    },
  }
}
