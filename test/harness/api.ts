import { randomUUID } from 'node:crypto'
import type { BeaconReceipt } from '../../schemas/beacon.ts'
import type { Answering } from './service.ts'
import { waitFor } from './service.ts'

export type Row = Record<string, unknown>

/** Sends a body to `POST /e` as a browser would. Strings and bytes go as they are. */
export function postBeacon(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${url}/e`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain', 'user-agent': chrome, ...headers },
    body:
      typeof body === 'string' || body instanceof Uint8Array
        ? (body as NonNullable<RequestInit['body']>)
        : JSON.stringify(body),
  })
}

export const chrome =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

/** A beacon of the service's demo pixel that carries `events`. */
export const beaconOf = (
  service: Pick<Answering, 'demo'>,
  events: unknown[],
  more: Record<string, unknown> = {},
) => ({
  pixel_id: service.demo.pixel_id,
  sent_at: new Date().toISOString(),
  events,
  ...more,
})

/** A valid custom event with these properties. */
export const customEvent = (
  properties: Record<string, unknown> = {},
  more: Record<string, unknown> = {},
) => ({
  event_id: randomUUID(),
  event_type: 'custom',
  event_data: {
    url: 'http://shop.example/page',
    name: 'test',
    properties,
    timestamp: new Date().toISOString(),
  },
  ...more,
})

export const receiptOf = async (answer: Response): Promise<BeaconReceipt> =>
  (await answer.json()) as BeaconReceipt

/** A service that answers, with the keys of its demo. */
type Addressed = Pick<Answering, 'url' | 'demo'>

/** Asks the API with the demo's live key. */
export function ask(
  service: Addressed,
  path: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  const { api_key, api_secret } = service.demo
  return fetch(`${service.url}${path}`, {
    headers: { 'x-api-key': api_key, 'x-api-secret': api_secret, ...headers },
  })
}

/** The rows of a tier route's answer. */
export async function readRows(service: Addressed, query: Record<string, string>): Promise<Row[]> {
  const answer = await ask(service, `/api/v3/events/web_event?${new URLSearchParams(query)}`)
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as { rows: Row[] }).rows
}

/** Waits until the API returns the event, as a user would see it. */
export const readEvent = (service: Addressed, eventId: string): Promise<Row> =>
  waitFor(
    `event ${eventId}`,
    async () => (await readRows(service, { filter: `event_id:eq:${eventId}` }))[0],
  )
