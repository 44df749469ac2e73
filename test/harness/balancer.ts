import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { Random } from '../../collector/platform/seededRandom.ts'

/** Stands before several collectors and gives each connection to one of them, as a balancer of TCP does. */
export interface Balancer {
  /** What browsers take for the collector. */
  url: string
  close(): Promise<void>
}

/** Starts a balancer before the collectors at `urls`: each connection goes to any of them, or another that takes it. */
export async function startBalancer(urls: readonly string[], random: Random): Promise<Balancer> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  }
  const server = createServer({ pauseOnConnect: true }, (client) => {
    keep(client)
    const first = random.integer(0, urls.length - 1)
    const join = (tries: number) => {
      if (tries === urls.length) return client.resetAndDestroy()
      const { hostname, port } = new URL(urls[(first + tries) % urls.length]!)
      const collector = connect(Number(port), hostname)
      keep(collector)
      const next = () => join(tries + 1)
      collector.once('error', next)
      collector.once('connect', () => {
        collector.off('error', next)
        client.once('close', () => collector.destroy())
        collector.once('close', () => client.destroy())
        client.pipe(collector).pipe(client)
        client.resume()
      })
    }
    join(0)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
