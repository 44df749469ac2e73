import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Received {
  path: string
  headers: IncomingHttpHeaders & { 'webhook-id': string }
  body: string
  at: number
}

type Answer = (response: ServerResponse, path: string, body: string) => void

/** Behavior of a receiver by path; all other paths answer 200. */
const behaviours: Record<string, Answer> = {
  '/500': (response) => response.writeHead(500).end('it broke here'),
  '/410': (response) => response.writeHead(410).end(),
  '/redirect': (response) =>
    response.writeHead(307, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
  '/hangs': () => {},
  '/closes': (response) => response.destroy(),
  '/truncated': (response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('half an answer')
    setTimeout(() => response.destroy(), 20)
  },
  '/endless': (response) => {
    const more = setInterval(() => response.write('x'.repeat(10_000)), 1)
    response.on('close', () => clearInterval(more))
  },
}

/** A customer's server, which may misbehave, and its requests. */
export async function startReceiver() {
  const received: Received[] = []
  const answers = { ...behaviours }
  const server = createServer(async (request, response) => {
    const { url: path = '', headers } = request
    const body = await text(request)
    received.push({ path, headers: headers as Received['headers'], body, at: Date.now() })
    const answer = answers[path.split('?')[0]!]
    if (answer) answer(response, path, body)
    else response.end('thanks')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    /** Has a path answer otherwise from now on. */
    on(path: string, answer: Answer) {
      answers[path] = answer
    },
    at: (path: string) => received.filter((each) => each.path === path),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
