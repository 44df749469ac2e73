import type { IncomingMessage } from 'node:http'
import { beaconBytesMax } from '../../../schemas/beacon.ts'
import { namesSeveralHosts } from '../../api/http/hostHeader.ts'

const plainType = /^(?:text\/plain|application\/json)(?:;|$)/

/** Whether beacons may have this Content-Type. */
export const isBeaconType = (type: string | undefined): boolean => plainType.test(type ?? '')

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
  isBeaconType(headers['content-type']) &&
  !namesSeveralHosts(rawHeaders)
