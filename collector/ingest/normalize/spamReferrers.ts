import spamList from '../../../schemas/lists/spamReferrers.json' with { type: 'json' }
import { isObject } from '../../platform/json.ts'
import { isText } from './text.ts'

const domains = new Set(spamList.domains)
const hostPattern = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#:]+)/i
const partsMax = 6

/** Returns the listed domain of a referrer that spam uses, or null. */
export function spamDomainOf(referrer: unknown): string | null {
  const host = isText(referrer) ? hostPattern.exec(referrer.slice(0, 300))?.[1] : undefined
  if (!host) return null
  const parts = host.toLowerCase().split('.').slice(-partsMax)
  for (let from = 0; from < parts.length - 1; from++) {
    const domain = parts.slice(from).join('.')
    if (domains.has(domain)) return domain
  }
  return null
}

/** Returns the domain of the first event of a beacon that has such a referrer. */
export function spamIn(events: readonly unknown[]): string | null {
  for (const event of events) {
    if (!isObject(event)) continue
    const data = isObject(event.event_data) ? event.event_data : event
    const domain = spamDomainOf(data.referrer)
    if (domain) return domain
  }
  return null
}

/** The device members of a row, marked as those of a bot. */
export const markedAsSpam = (members: string, domain: string): string =>
  JSON.stringify({
    ...JSON.parse(`{${members}}`),
    is_bot: true,
    bot_reason: `referrer: ${domain}`,
  }).slice(1, -1)
