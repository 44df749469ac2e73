import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** Stands between a client and the service. */
export interface Relay {
  /** The address that the client uses as the service. */
  url: string
  /** Everything that was asked. */
  requests: Pick<IncomingMessage, 'method' | 'url' | 'headers'>[]
  /** How many more answers the client never sees: the service has given them, and then the connection dies. */
  toLose: number
  /** Whether answers are kept back until the client goes. */
  isSilent: boolean
  close(): void
}

export async function startRelay(targetUrl: string): Promise<Relay> {
  const pass = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { method, url, headers } = incoming
    relay.requests.push({ method, url, headers })
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const forwarded = request(new URL(url!, targetUrl), { method, headers }, resolve)
      incoming.pipe(forwarded.on('error', reject))
    })
    const body = await buffer(answer)
    if (relay.isSilent) return
    if (relay.toLose > 0) {
      relay.toLose--
      incoming.socket.resetAndDestroy()
      return
    }
    const { 'transfer-encoding': _, ...kept } = answer.headers
    outgoing.writeHead(answer.statusCode!, { ...kept, 'content-length': body.length }).end(body)
  }
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing).catch(() => incoming.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const relay: Relay = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    toLose: 0,
    isSilent: false,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
  return relay
}
