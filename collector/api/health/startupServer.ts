import Fastify from 'fastify'
import type { Config } from '../../config.ts'
import { answerError } from '../http/answerErrors.ts'
import { busy } from '../http/errors.ts'
import { listen } from '../http/listen.ts'
import { healthRoutes } from './healthRoutes.ts'

/** Answers on PORT while a store that the service needs to start is unavailable. */
interface StartupServer {
  /** Opens the server if it is not open. `/readyz` and all other requests then report `reason`. */
  waitFor(reason: string): Promise<void>
  /** Releases the port to the workers. */
  close(): Promise<void>
}

const retrySeconds = 5

/** Creates a startup server that does not listen yet; if all stores are available, it never does. */
export function createStartupServer({ host, port }: Pick<Config, 'host' | 'port'>): StartupServer {
  let awaited = ''
  let opened: Promise<() => Promise<void>> | null = null

  const open = async () => {
    const app = Fastify({ logger: false, forceCloseConnections: true })
    app.setErrorHandler(answerError)
    app.setNotFoundHandler(() => {
      throw busy(`The service is starting: ${awaited}. Try again.`, retrySeconds)
    })
    await app.register(healthRoutes(() => awaited))
    await listen(app, { host, port, setting: 'PORT' })
    return () => app.close()
  }
  return {
    async waitFor(reason) {
      awaited = reason
      opened ??= open()
      await opened
    },
    async close() {
      await (await opened)?.()
    },
  }
}
