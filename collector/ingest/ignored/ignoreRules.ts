import type { IgnoredTraffic, IgnoreSetting } from '../../../schemas/ignored.ts'
import { hostFault, hostMatcher, readHost } from './hosts.ts'
import { networkFault, networkMatcher, readNetwork } from './networks.ts'
import { pathFault, pathMatcher, readPath } from './paths.ts'

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
