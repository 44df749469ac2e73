/**
 * The rule of sessions. A visitor is a browser (cookie_id) in a project; bots are visitors of their own. Their events of all pixels of the
 * project are in one session until one of these:
 * - 30 minutes (restMs) pass without an event.
 * - An event has a campaign, or an outside referrer, that differs from the last one since that rest. Events of one
 *   millisecond stay together.
 * - The visit without a rest has lasted a complete UTC day. It ends at the end of that day, and so does every further
 *   day of it. Without this bound a session without a rest could be endless.
 * analytics/hits/appendHits.ts applies it.
 */

import { transit } from './trafficSources.ts'

export const restMs = 30 * 60_000

/** SQL over rows of events: the referrer's host, if its site differs from the page's; otherwise null. */
export const outsideReferrer = `if(isNull(referrer_host) OR referrer_host = page_host
  OR cutToFirstSignificantSubdomain(assumeNotNull(referrer_host)) != ''
    AND cutToFirstSignificantSubdomain(assumeNotNull(referrer_host)) = cutToFirstSignificantSubdomain(ifNull(page_host, '')), NULL, referrer_host)`

const campaignColumns = ['utm_source', 'utm_medium', 'utm_campaign', 'click_id_type']

/** SQL over rows of events: the number of the campaign, 0 without. */
export const campaign = `if(coalesce(${campaignColumns.join(', ')}) IS NULL, 0,
  toUInt32(bitOr(cityHash64(${campaignColumns.map((name) => `ifNull(${name}, '')`).join(', ')}), 1)))`
const quoted = (texts: readonly string[]) => texts.map((text) => `'${text}'`).join(', ')

/**
 * SQL over rows of events: the number of the outside referrer, 0 without, and for pages of a sign-in or a payment.
 * `transitHosts` are those of projects (readTransitHosts in analytics/hits/keepHits.ts).
 */
export const referrer = `if(isNull(${outsideReferrer} AS _outside)
  OR assumeNotNull(_outside) IN (${quoted(transit.hosts)})
  OR cutToFirstSignificantSubdomain(assumeNotNull(_outside)) IN (${quoted(transit.domains)})
  OR concat(toString(project_id), ' ', assumeNotNull(_outside)) IN {transitHosts:Array(String)}
  OR concat(toString(project_id), ' ', cutToFirstSignificantSubdomain(assumeNotNull(_outside))) IN {transitHosts:Array(String)}, 0, toUInt32(bitOr(cityHash64(assumeNotNull(_outside)), 1)))`
