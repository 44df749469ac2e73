import type { Socket } from 'node:net'
import type { BeaconHeaders } from '../beacon/beaconRequest.ts'

/** A beacon that was read in front of Node's parser. */
export interface WireBeacon {
  headers: BeaconHeaders
  body: Buffer
  socket: Socket
}

/** The answer: a complete HTTP response that keeps its connection. */
export interface WireAnswer {
  text: string
  encoding: 'latin1' | 'utf8'
}

/**
 * Answers a beacon. If it rejects, the request belongs to Node from its first byte, together with that error
 * (`refusalOf`).
 */
export type TakeBeacon = (beacon: WireBeacon) => Promise<WireAnswer>

/** The error of a rejected request, and its body. */
export interface Refusal {
  body: Buffer
  error: unknown
}
