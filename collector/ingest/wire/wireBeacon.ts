import type { Socket } from 'node:net'
import type { BeaconHeaders } from '../beacon/beaconRequest.ts'

/** A beacon that was read before Node's parser. */
export interface WireBeacon {
  headers: BeaconHeaders
  body: Buffer
  socket: Socket
}

/** The response: a complete HTTP response that keeps its connection. */
export interface WireAnswer {
  text: string
  encoding: 'latin1' | 'utf8'
}

/**
 * Answers a beacon. If it rejects, Node handles the request from its first byte, with that error
 * (`refusalOf`).
 */
export type TakeBeacon = (beacon: WireBeacon) => Promise<WireAnswer>

/** The error of a rejected request, and its body. */
export interface Refusal {
  body: Buffer
  error: unknown
}
