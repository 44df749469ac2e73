/**
 * Sends events from your server that no page sees, such as a payment that a provider confirms. POST /e
 * accepts them like those of a page, with the types of `Beacon` in footfall-client, whose `sendEvents` sends
 * the same. With a key that may write in the pixel's project, your server names the visitor of the event.
 * Never use such a key in a page. Without a key the event belongs to your server, and counts as a bot.
 * Replace PIXEL_ID with the id of your pixel, and the address with that of your collector.
 */
import { randomUUID } from 'node:crypto'

const collector = 'http://127.0.0.1:8787'
const pixelId = 'PIXEL_ID'
const { FOOTFALL_API_KEY: key, FOOTFALL_API_SECRET: secret } = process.env

/**
 * Sends a custom event for the visitor of the current request. Resolves with { cookie_id, accepted, rejected,
 * vouched }. `request` is a Node request. Without an event id each retry is a new event. Pass a UUID that is
 * the same for the same fact, and its time (`at`): then a retry is stored once.
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
  /** @type {import('footfall-client').Beacon} */
  const beacon = {
    pixel_id: pixelId,
    // Null: no consent, and nothing that outlives the day.
    cookie_id: kept ?? null,
    // Behind a proxy of your own: the address that it tells.
    client_ip: request.socket.remoteAddress,
    user_agent: request.headers['user-agent'],
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
  }
  const answer = await fetch(`${collector}/e`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key && { 'x-api-key': key, 'x-api-secret': secret }),
      // The tracking preference of the visitor's browser also applies here.
      ...(request.headers['sec-gpc'] && { 'sec-gpc': request.headers['sec-gpc'] }),
    },
    body: JSON.stringify(beacon),
    signal: AbortSignal.timeout(10_000),
  })
  // 429 and 503 ask for another try later, with the same event_id.
  if (!answer.ok) throw new Error(`Footfall answered ${answer.status}: ${await answer.text()}`)
  return answer.json()
}
