/**
 * Events from your server: what no page sees, such as a payment that a provider confirms. POST /e takes them as it
 * takes a page's, with the types that GET /openapi.json has as "Beacon". There is no key, as a page has none; what a
 * server vouches for is signed (signed-identify). Your pixel's id goes in place of PIXEL_ID, your collector's address
 * in place of this one.
 */
import { randomUUID } from 'node:crypto'

const collector = 'http://127.0.0.1:8787'
const pixelId = 'PIXEL_ID'

/**
 * Sends a custom event for the visitor whose request this server is answering; resolves with
 * { cookie_id, accepted, rejected }. `request` is a Node request. Without an own id each try would be another event:
 * pass one that is the same for the same fact, a uuid, and a retry is stored once.
 */
export async function track(
  request,
  name,
  properties = {},
  { eventId = randomUUID(), at = new Date() } = {},
) {
  // The pixel keeps it in the site's own cookie; "out" is a visitor who wants nothing captured.
  const kept = /(?:^|; )footfall_id=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1]
  if (kept === 'out') return
  const answer = await fetch(`${collector}/e`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      // Whose event it is: else it is this server's, and its User-Agent a bot's. The collector believes the address
      // where this server is one of its FOOTFALL_TRUSTED_PROXIES.
      'user-agent': request.headers['user-agent'] ?? '',
      'x-forwarded-for': request.socket.remoteAddress,
      // Where the pixel has allowed_origins.
      origin: `https://${request.headers.host}`,
    },
    body: JSON.stringify({
      pixel_id: pixelId,
      // Null: no consent, and nothing that outlives the day.
      cookie_id: kept ?? null,
      sent_at: new Date().toISOString(),
      events: [
        {
          event_id: eventId,
          event_type: 'custom',
          event_data: {
            url: `https://${request.headers.host}${request.url}`,
            timestamp: at.toISOString(),
            name,
            properties,
          },
        },
      ],
    }),
    signal: AbortSignal.timeout(10_000),
  })
  // 429 and 503 ask for another try later, with the same event_id.
  if (!answer.ok) throw new Error(`Footfall answered ${answer.status}: ${await answer.text()}`)
  return answer.json()
}
