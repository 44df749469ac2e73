import type { Data } from '../normalize/validateEvent.ts'
import { objectOf, pageOf, textOf } from './members.ts'

/** Members of `context.campaign`, and the query parameters for marketing fields. */
const campaignParameters = {
  source: 'utm_source',
  medium: 'utm_medium',
  name: 'utm_campaign',
  term: 'utm_term',
  content: 'utm_content',
} as const

/**
 * Returns the URL of a message: of its page, or `app:` with the name of the app or library, because servers
 * have no page. The campaign of the context becomes its query parameters, unless it has some.
 */
export function pageUrlOf(message: Data): string {
  const { app, library, campaign } = objectOf(message.context)
  const { namespace, name } = objectOf(app)
  const source = textOf(namespace) ?? textOf(name) ?? textOf(objectOf(library).name) ?? 'unknown'
  const sent =
    (message.type === 'page' ? textOf(objectOf(message.properties).url) : undefined) ??
    textOf(pageOf(message).url)
  return withCampaign(sent ?? `app:${source}`, objectOf(campaign))
}

function withCampaign(url: string, campaign: Data): string {
  if (url.includes('utm_')) return url
  const query = new URLSearchParams()
  for (const [member, parameter] of Object.entries(campaignParameters)) {
    const value = textOf(campaign[member])
    if (value !== undefined) query.set(parameter, value)
  }
  if (query.size === 0) return url
  const [address = '', ...fragment] = url.split('#')
  const separator = address.includes('?') ? '&' : '?'
  return [`${address}${separator}${query}`, ...fragment].join('#')
}
