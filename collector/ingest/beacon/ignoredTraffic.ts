import type { IgnoredTraffic, IgnoreSetting } from '../../../schemas/ignored.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { compileIgnoreRules, type IgnoreRules } from '../ignored/ignoreRules.ts'
import { pageOf } from '../normalize/normalize.ts'
import type { BeaconRequest, Envelope } from './beacon.ts'
import type { ClientInfo } from './clientInfo.ts'
import { pageRows } from './memoryTable.ts'
import { openProjectSettings } from './projectSettings.ts'

export interface IgnoredTrafficRegistry {
  /** The rules of a project; undefined if it ignores nothing. */
  rulesOf(projectId: string): IgnoreRules | undefined
  close(): Promise<void>
}

interface ProjectTraffic extends IgnoredTraffic {
  project_id: string
}

export async function openIgnoredTraffic(
  postgres: Postgres,
  url: string,
  copy: { dataDir: string; keeps: boolean },
): Promise<IgnoredTrafficRegistry> {
  const traffic = await openProjectSettings<ProjectTraffic, IgnoreRules>(postgres, url, copy, {
    name: 'ignored_traffic',
    // The condition of the index `projects_with_ignored_traffic`.
    select: (condition) =>
      `SELECT project_id, ignored_networks, ignored_hosts, ignored_paths FROM projects
       WHERE (ignored_networks <> '{}' OR ignored_hosts <> '{}' OR ignored_paths <> '{}') AND ${condition}`,
    pageRows,
    compile: compileIgnoreRules,
  })
  return { rulesOf: traffic.of, close: traffic.close }
}

export interface Ignored {
  /** The setting that ignores each event, by the event's index in the beacon. */
  events: Map<number, IgnoreSetting>
  /** Whether the `hem` of the beacon itself is ignored. */
  hem: boolean
  settings: Set<IgnoreSetting>
}

/**
 * Finds the parts of a beacon that its project ignores; undefined without any. The `hem` of the beacon
 * belongs to the page that sent it: to its address, its events, or the headers that name the page.
 */
export function findIgnored(
  rules: IgnoreRules,
  { headers }: Pick<BeaconRequest, 'headers'>,
  { ip }: ClientInfo,
  { events, person }: Pick<Envelope, 'events' | 'person'>,
): Ignored | undefined {
  const isNetwork = rules.ignoresAddress(ip)
  const settingOf = (url: unknown) => (isNetwork ? 'ignored_networks' : rules.settingOfPage(url))
  const ignored: Ignored = { events: new Map(), hem: false, settings: new Set() }
  for (const [index, event] of events.entries()) {
    const setting = settingOf(pageOf(event))
    if (!setting) continue
    ignored.events.set(index, setting)
    ignored.settings.add(setting)
  }
  if (person) {
    const setting = settingOf(headers.referer ?? headers.origin)
    if (setting) ignored.settings.add(setting)
    ignored.hem =
      setting !== undefined || (events.length > 0 && ignored.events.size === events.length)
  }
  return ignored.settings.size > 0 ? ignored : undefined
}
