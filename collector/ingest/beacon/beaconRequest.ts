import type { IncomingHttpHeaders } from 'node:http'

/** The headers that say who sends a beacon, and from where. */
export const beaconHeaders = [
  ...(['user-agent', 'accept-language', 'cookie', 'origin', 'referer', 'sec-fetch-site'] as const),
  ...(['sec-gpc', 'dnt', 'x-forwarded-for', 'x-forwarded-proto'] as const),
]

export type BeaconHeaders = { [Name in (typeof beaconHeaders)[number]]?: IncomingHttpHeaders[Name] }

/** What acceptBeacon needs of a request; Fastify's are such. */
export interface BeaconRequest {
  headers: BeaconHeaders
  /** The client's address, of the last proxy that is trusted. */
  ip: string
  protocol: string
  log: { error(error: unknown, message: string): void }
}
