import { connect, createServer } from 'node:net'
import { listenInFrontOf, type ProxyServer } from './proxyServer.ts'

/** Stands between the service and PostgreSQL, and spoils what goes through it. */
export interface PostgresProxy extends ProxyServer {
  /** How many more answers to statements named `lostStatement` never arrive, although they were carried out. */
  toLose: number
  /** Keeps the connections that are open, and passes nothing on: as a firewall that has forgotten them. */
  goSilent(): void
}

/**
 * Starts a proxy to the PostgreSQL at `targetUrl`. Nothing is encrypted, so statements are recognized by
 * their names.
 */
export async function startPostgresProxy(
  targetUrl: string,
  lostStatement: string,
): Promise<PostgresProxy> {
  const target = new URL(targetUrl)
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
      one.on('error', () => {})
      one.once('close', () => other.destroy())
    }
  })
  const listening = await listenInFrontOf(targetUrl, server, (socket) => socket.destroy())
  const proxy: PostgresProxy = {
    ...listening,
    toLose: 0,
    goSilent() {
      for (const one of silence) one()
      silence.clear()
    },
  }
  return proxy
}
