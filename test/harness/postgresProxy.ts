import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Stands between the service and PostgreSQL, and spoils what goes through it. */
export interface PostgresProxy {
  /** What the service takes for PostgreSQL. */
  url: string
  /** How many more answers to statements named `lostStatement` never arrive, although they were carried out. */
  toLose: number
  /** Closes all connections and refuses new ones. */
  refuse(): Promise<void>
  /** Keeps the connections that are open, and passes nothing on: as a firewall that has forgotten them. */
  goSilent(): void
  /** Takes connections again, on the same port. */
  accept(): Promise<void>
}

/** Starts a proxy to the PostgreSQL at `targetUrl`. Nothing is encrypted, so statements can be told by their names. */
export async function startPostgresProxy(
  targetUrl: string,
  lostStatement: string,
): Promise<PostgresProxy> {
  const target = new URL(targetUrl)
  const sockets = new Set<Socket>()
  const silence = new Set<() => void>()
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname)
    let isLost = false
    let isSilent = false
    silence.add(() => {
      isSilent = true
    })
    client.on('data', (bytes) => {
      if (proxy.toLose > 0 && bytes.includes(lostStatement)) {
        proxy.toLose--
        isLost = true
      }
      if (!isSilent) upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (isLost) client.resetAndDestroy()
      else if (!isSilent) client.write(bytes)
    })
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => {})
      one.once('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
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
  const proxy: PostgresProxy = {
    url: url.href,
    toLose: 0,
    refuse: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
    goSilent() {
      for (const one of silence) one()
      silence.clear()
    },
    accept: () => listen(port),
  }
  return proxy
}
