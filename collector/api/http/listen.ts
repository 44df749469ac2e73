import { once } from 'node:events'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { StartError } from '../../platform/startError.ts'

/**
 * Listens on this host and port. Rejects with StartError, which names the setting, if that fails. With `isShared`,
 * several processes listen on the port, and the system gives each connection to one of them. A process that is killed
 * then takes only its own connections with it.
 */
export async function listen(
  app: FastifyInstance,
  { host, port, setting, isShared = false }: Address & { isShared?: boolean },
): Promise<void> {
  try {
    await app.listen({
      port,
      host,
      listenTextResolver: (address) => `listening: ${address}`,
      // Without this option (macOS), the primary process accepts all connections.
      ...(isShared && process.platform === 'linux' && { reusePort: true }),
    })
  } catch (error) {
    throw toStartError(error, { host, port, setting })
  }
}

export interface Address {
  host: string
  port: number
  setting: string
}

/** How long the workers of a killed service may keep its port. */
const leavingMs = 5_000
const tryEveryMs = 100

/** Throws StartError if another process has the port and keeps it, or if this process may not use it. */
export async function requireFreePort(address: Address): Promise<void> {
  const until = performance.now() + leavingMs
  for (;;) {
    const server = createServer()
    try {
      server.listen(address.port, address.host)
      await once(server, 'listening')
      return
    } catch (error) {
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (!isTaken || performance.now() > until) throw toStartError(error, address)
    } finally {
      server.close()
    }
    await delay(tryEveryMs)
  }
}

function toStartError(error: unknown, { host, port, setting }: Address): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE')
    return new StartError(`port ${port} is in use; set ${setting} to another`)
  if (code === 'EACCES')
    return new StartError(`no permission to use port ${port}; set ${setting} to another`)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new StartError(`HOST ${host} is not an address of this machine`)
  return error
}
