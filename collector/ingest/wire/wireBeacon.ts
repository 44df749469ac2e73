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

/**
 * Returns an HTTP response with the headers that Node adds to one that keeps its connection (RFC 9110, 6.6.1;
 * RFC 9112, 9.3).
 */
export function answerText(headers: readonly string[], body: string, keepAliveMs: number): string {
  let text = 'HTTP/1.1 200 OK\r\n'
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`
  const seconds = Math.floor(keepAliveMs / 1000)
  return `${text}Date: ${httpDate()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n\r\n${body}`
}

let dateSecond = Number.NaN
let date = ''

/** Returns the current time in HTTP's format (RFC 9110, 5.6.7). */
function httpDate(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    date = new Date(second * 1000).toUTCString()
  }
  return date
}
