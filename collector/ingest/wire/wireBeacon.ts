import type { Socket } from 'node:net'
import type { BeaconHeaders } from '../beacon/beaconRequest.ts'

/** A beacon that was read in front of Node's parser. */
export interface WireBeacon {
  headers: BeaconHeaders
  body: Buffer
  socket: Socket
}

/** What is written in answer: a whole HTTP response that keeps its connection. */
export interface WireAnswer {
  text: string
  encoding: 'latin1' | 'utf8'
}

/**
 * Answers a beacon. What it rejects with makes the request Node's, from its first byte, with that error beside it
 * (`refusalOf`).
 */
export type TakeBeacon = (beacon: WireBeacon) => Promise<WireAnswer>

/** What a TakeBeacon rejected a request with, and its body. */
export interface Refusal {
  body: Buffer
  error: unknown
}
