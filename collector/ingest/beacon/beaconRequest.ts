import type { IncomingHttpHeaders } from 'node:http'

/** What acceptBeacon needs of a request; Fastify's are such. */
export interface BeaconRequest {
  headers: IncomingHttpHeaders
  /** The client's address, of the last proxy that is trusted. */
  ip: string
  protocol: string
  log: { error(error: unknown, message: string): void }
}
