import { words } from './labels.ts'

interface Field {
  name: string
  /** The group of the field in the API. */
  group: string
}

/** Groups by the API's group of their fields. Groups of identity data keep their name. */
const groups: Readonly<Record<string, string>> = {
  page: 'Page',
  session: 'Source',
  marketing: 'Source',
  device: 'Device',
  location: 'Place',
  event: 'Event',
  identity: 'Visitor',
  pte: 'Visitor',
}
const elsewhere: Readonly<Record<string, string>> = {
  entry_page: 'Page',
  exit_page: 'Page',
  referrer_url: 'Source',
  campaign_id: 'Source',
  resolved: 'Visitor',
  cookie_id: 'Visitor',
}
const order = [...new Set(Object.values(groups))]
/** The fields that people use most; they lead their groups. */
const first = ['page_path', 'channel', 'referrer_host', 'device_type', 'event_type', 'resolved']
/** Fields without a use in a condition: the same time twice, the project itself, and the complete payload. */
const unused = ['ts_millis', 'project_id', 'event_data']

/**
 * Returns the fields to choose from, by group: Page, Source, Device, Place, Event, Visitor, and then the groups of
 * identity data. `chosen` is always among them.
 */
export function groupedFields(
  fields: readonly Field[],
  chosen: string,
): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>(order.map((label) => [label, []]))
  for (const { name, group } of fields) {
    if (unused.includes(name) && name !== chosen) continue
    const label = elsewhere[name] ?? groups[group] ?? words(group)
    const names = found.get(label) ?? []
    found.set(label, first.includes(name) ? [name, ...names] : [...names, name])
  }
  return found
}
