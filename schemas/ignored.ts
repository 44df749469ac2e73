import { type Static, Type } from 'typebox'

/** The most networks, hosts or paths that a project can ignore. */
const entriesMax = 100

const entries = (charsMax: number, description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: charsMax }), {
    maxItems: entriesMax,
    description,
  })

/** The settings of a project that name the traffic to ignore. An event that one of them matches is not stored. */
export const ignoredTrafficSchema = {
  ignored_networks: entries(
    50,
    'Networks whose events are not stored: IPv4 or IPv6 addresses, or networks in CIDR notation. The collector compares them with the complete address of the visitor.',
  ),
  ignored_hosts: entries(
    255,
    'Hosts whose pages send events that are not stored, without scheme and port: `staging.example.com`, or `*.example.com` for every host below `example.com`. Every port matches.',
  ),
  ignored_paths: entries(
    200,
    'Paths whose pages send events that are not stored. `/preview` matches `/preview` and every path below it. In a path with `*`, each `*` matches any characters and the complete path must match: `/*/preview/*`, `*.pdf`.',
  ),
}

export type IgnoreSetting = keyof typeof ignoredTrafficSchema
export type IgnoredTraffic = {
  [Setting in IgnoreSetting]: Static<(typeof ignoredTrafficSchema)[Setting]>
}

export const ignoreSettings = Object.keys(ignoredTrafficSchema) as IgnoreSetting[]

export const isIgnoreSetting = (name: string): name is IgnoreSetting =>
  (ignoreSettings as string[]).includes(name)
