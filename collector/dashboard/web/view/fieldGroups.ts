import { words } from './labels.ts'

interface Field {
  name: string
  /** The group of the field in the API. */
  group: string
}

/** Fields of conditions by what they describe, the most used ones first. Fields that are not named here follow. */
const names: Readonly<Record<string, readonly string[]>> = {
  Page: ['page_path', 'entry_page', 'exit_page', 'is_entry', 'page_host', 'page_url'],
  Source: [
    'channel',
    'referrer_host',
    'utm_source',
    'utm_medium',
    'utm_campaign',
    'utm_term',
    'utm_content',
    'referrer_url',
    'campaign_id',
  ],
  Device: ['device_type', 'browser', 'os', 'language'],
  Place: ['country', 'region', 'city'],
  Event: ['event_type'],
  Visitor: ['resolved', 'cookie_id', 'client_ip', 'is_bot', 'bot_reason'],
}

const groupsOfApi: Readonly<Record<string, string>> = {
  page: 'Page',
  session: 'Source',
  marketing: 'Source',
  device: 'Device',
  location: 'Place',
  event: 'Event',
  identity: 'Visitor',
  pte: 'Visitor',
}

/** Fields without a use in a condition: the same time twice, the project itself, and the complete payload. */
const unused: ReadonlySet<string> = new Set(['ts_millis', 'project_id', 'event_data'])

const groupOf = ({ name, group }: Field): string =>
  Object.keys(names).find((label) => names[label]!.includes(name)) ??
  groupsOfApi[group] ??
  words(group)

/**
 * Returns the fields to choose from, by group: Page, Source, Device, Place, Event, Visitor, and then the groups of
 * identity data. `chosen` is always among them.
 */
export function groupedFields(
  fields: readonly Field[],
  chosen: string,
): ReadonlyMap<string, readonly string[]> {
  const offered = fields.filter(({ name }) => !unused.has(name) || name === chosen)
  const labels = new Set([...Object.keys(names), ...offered.map(groupOf)])
  return new Map(
    [...labels].map((label) => {
      const inGroup = offered.filter((field) => groupOf(field) === label).map(({ name }) => name)
      const first = (names[label] ?? []).filter((name) => inGroup.includes(name))
      return [label, [...new Set([...first, ...inGroup])]]
    }),
  )
}
