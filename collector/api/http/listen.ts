import type { FastifyInstance } from 'fastify'
import { StartError } from '../../platform/startError.ts'

/** Listens on this host and port. Rejects with StartError, which names the setting, if that fails. */
export async function listen(
  app: FastifyInstance,
  host: string,
  port: number,
  setting: string,
): Promise<void> {
  try {
    await app.listen({ port, host, listenTextResolver: (address) => `listening: ${address}` })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE')
      throw new StartError(`port ${port} is in use; set ${setting} to another`)
    if (code === 'EACCES')
      throw new StartError(`no permission to use port ${port}; set ${setting} to another`)
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new StartError(`HOST ${host} is not an address of this machine`)
    throw error
  }
}
