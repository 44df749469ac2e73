import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { beaconBytesMax } from '../../../schemas/beacon.ts'
import { namesSeveralHosts } from '../../api/http/hostHeader.ts'

/** The headers that identify the sender of a beacon and its page. */
type BeaconHeader =
  | 'user-agent'
  | 'accept-language'
  | 'cookie'
  | 'origin'
  | 'referer'
  | 'sec-fetch-site'
  | 'sec-gpc'
  | 'dnt'
  | 'x-forwarded-for'
  | 'x-forwarded-proto'

export type BeaconHeaders = { [Name in BeaconHeader]?: IncomingHttpHeaders[Name] }

/** The parts of a request that acceptBeacon needs; Fastify's requests have them. */
export interface BeaconRequest {
  headers: BeaconHeaders
  /** The client's address, according to the last trusted proxy. */
  ip: string
  protocol: string
  log: { error(error: unknown, message: string): void }
}

/** The Content-Type of plain beacons. */
const plainType = /^(?:text\/plain|application\/json)(?:;|$)/

/**
 * Whether a request is a beacon that does not need the router: not chunked, not compressed, without a key,
 * with one host.
 */
export const isPlainBeacon = ({ url, method, headers, rawHeaders }: IncomingMessage): boolean =>
  url === '/e' &&
  method === 'POST' &&
  Number(headers['content-length']) <= beaconBytesMax &&
  headers['content-encoding'] === undefined &&
  headers['x-api-key'] === undefined &&
  plainType.test(headers['content-type'] ?? '') &&
  !namesSeveralHosts(rawHeaders)
