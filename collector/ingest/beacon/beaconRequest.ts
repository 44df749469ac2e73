import type { IncomingHttpHeaders } from 'node:http'

/** The headers that identify the sender of a beacon and its page. */
export const beaconHeaders = [
  ...(['user-agent', 'accept-language', 'cookie', 'origin', 'referer', 'sec-fetch-site'] as const),
  ...(['sec-gpc', 'dnt', 'x-forwarded-for', 'x-forwarded-proto'] as const),
]

export type BeaconHeaders = { [Name in (typeof beaconHeaders)[number]]?: IncomingHttpHeaders[Name] }

/** The parts of a request that acceptBeacon needs; Fastify's requests have them. */
export interface BeaconRequest {
  headers: BeaconHeaders
  /** The client's address, according to the last trusted proxy. */
  ip: string
  protocol: string
  log: { error(error: unknown, message: string): void }
}
