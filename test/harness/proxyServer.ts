import type { AddressInfo, Server, Socket } from 'node:net'

/** A listening server between the service and a store. */
export interface ProxyServer {
  /** `targetUrl` with the address of the server. */
  url: string
  /** Closes all connections and refuses new ones. */
  refuse(): Promise<void>
  /** Takes connections again, on the same port. */
  accept(): Promise<void>
}

/** Has a server listen in place of the store at `targetUrl`. `end` closes a connection when it refuses them. */
export async function listenInFrontOf(
  targetUrl: string,
  server: Server,
  end: (socket: Socket) => void,
): Promise<ProxyServer> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const listen = (port: number) =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => {
        server.removeListener('error', reject)
        resolve()
      })
    })
  await listen(0)
  const { port } = server.address() as AddressInfo
  const url = new URL(targetUrl)
  url.host = `127.0.0.1:${port}`
  return {
    url: url.href,
    refuse: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) end(socket)
      }),
    accept: () => listen(port),
  }
}
