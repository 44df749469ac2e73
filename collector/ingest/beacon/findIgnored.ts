import type { IgnoreSetting } from '../../../schemas/ignored.ts'
import type { IgnoreRules } from '../ignored/ignoreRules.ts'
import { pageOf } from '../normalize/normalize.ts'
import type { Envelope } from './beacon.ts'
import type { BeaconRequest } from './beaconRequest.ts'
import type { ClientInfo } from './clientInfo.ts'

/** The parts of a beacon that its project ignores. */
export interface Ignored {
  /** The setting that ignores each event, by the event's index in the beacon. */
  events: Map<number, IgnoreSetting>
  /** Whether the `hem` of the beacon itself is ignored. */
  hem: boolean
  /** All settings that ignored some part. */
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
  const found: Ignored = { events: new Map(), hem: false, settings: new Set() }
  for (const [index, event] of events.entries()) {
    const setting = settingOf(pageOf(event))
    if (!setting) continue
    found.events.set(index, setting)
    found.settings.add(setting)
  }
  if (person) {
    const setting = settingOf(headers.referer ?? headers.origin)
    if (setting) found.settings.add(setting)
    found.hem = setting !== undefined || (events.length > 0 && found.events.size === events.length)
  }
  return found.settings.size > 0 ? found : undefined
}
