import { isUuid } from '../../../schemas/uuid.ts'

/** Parameters with values that contain neither personal data nor secrets. */
const shown = new Set([
  'project_id',
  'pixel_id',
  'campaign_id',
  'audience_id',
  'list_id',
  'source',
  'kind',
  'tier',
  'start_ms',
  'end_ms',
  'start_time',
  'end_time',
  'start_date',
  'end_date',
  'limit',
  'page_size',
  'offset',
  'select',
  'distinct',
  'group_by',
  'order',
  'format',
  'interval',
  'include_dsp',
  'status',
  'meter',
])
const targetCharsMax = 500

/**
 * Returns the target of a request as the log may store it. It is the route's path with its ids, and its query
 * with the values of harmless parameters. For all others (filters, e-mail addresses, hashes, cursors) it has
 * only the names.
 */
export function targetOf(
  route: string,
  params: Readonly<Record<string, unknown>>,
  query: Readonly<Record<string, unknown>>,
): string {
  const path = route.replace(/:(\w+)/g, (name, key: string) =>
    isUuid(params[key]) ? params[key] : name,
  )
  const pairs = Object.entries(query).map(([name, value]) => {
    const isShown = shown.has(name) && typeof value !== 'object'
    return `${encodeURIComponent(name)}=${isShown ? encodeURIComponent(String(value)) : '…'}`
  })
  const target = pairs.length === 0 ? path : `${path}?${pairs.join('&')}`
  return target.slice(0, targetCharsMax).toWellFormed()
}
