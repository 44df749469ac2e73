import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** How a request is treated: as Stripe would, lost after it was taken, or without an answer. */
export type Treatment = 'take' | 'fail' | 'busy' | 'refuse' | 'lose' | 'hang'

export interface TakenEvent {
  event_name: string
  customer: string
  value: number
  timestamp: number
}

/** Stripe's HTTP shape of POST /v1/billing/meter_events: it takes an identifier once, and can be made to fail. */
export async function startFakeStripe() {
  const taken = new Map<string, TakenEvent>()
  const asked: string[] = []
  const fake = {
    url: '',
    /** Events by identifier. */
    taken,
    /** The identifier of every request. */
    asked,
    treat: (): Treatment => 'take',
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  const server = createServer(async (request, response) => {
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const refuse = (status: number, message: string) =>
      answer(status, { error: { type: 'invalid_request_error', message } })

    const form = new URLSearchParams(await text(request))
    const identifier = form.get('identifier') ?? ''
    asked.push(identifier)
    if (request.method !== 'POST' || request.url !== '/v1/billing/meter_events')
      return refuse(404, 'no such thing')
    const treatment = fake.treat()
    if (treatment === 'fail')
      return answer(500, { error: { type: 'api_error', message: 'try again' } })
    if (treatment === 'busy') return refuse(429, 'too many concurrent requests')
    // An error as careless as can be: it repeats the key it was asked with.
    if (treatment === 'refuse')
      return refuse(401, `Invalid API Key provided: ${request.headers.authorization}`)
    if (treatment === 'hang') return
    if (taken.has(identifier))
      return refuse(400, `An event already exists with identifier ${identifier}.`)
    taken.set(identifier, {
      event_name: form.get('event_name')!,
      customer: form.get('payload[stripe_customer_id]')!,
      value: Number(form.get('payload[value]')),
      timestamp: Number(form.get('timestamp')),
    })
    if (treatment === 'lose') return request.socket.resetAndDestroy()
    return answer(200, {
      object: 'billing.meter_event',
      identifier,
      created: 0,
      livemode: false,
      payload: {},
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return fake
}
