import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type BeaconHead, readBeaconHead } from './beaconHead.ts'
import type { Refusal, TakeBeacon, WireAnswer } from './wireBeacon.ts'

/** Who takes the beacons of all connections. */
interface Beacons {
  readonly take: TakeBeacon
  /** No more once the server closes. */
  readonly areTaken: boolean
  /** Called before and after each. */
  begin(): void
  end(): void
}

/** Whose the next bytes of a connection are. */
type Reader =
  /** Nobody's yet: a request begins. */
  | 'next'
  /** They wait: a beacon is being answered. */
  | 'beacon'
  /** Node's: it has a request that is not answered, or nobody knows any more where one begins. */
  | 'Node'

/** A connection, and who reads it. */
export class Connection {
  readonly #socket: Socket
  readonly #toNode: (bytes: Buffer) => void
  readonly #beacons: Beacons
  #reader: Reader = 'next'
  /** Node's clock for connections that send nothing runs until its parser has seen a request. */
  #isFirst = true
  /** Of the request that Node has: bytes still to come; below zero when more came, or nobody knows. */
  #bytesLeft = 0
  /** That Node's parser read since it was given the last one. */
  #requests = 0
  /** Came with or after a beacon that is being answered, by whomever. */
  #waiting: Buffer | null = null
  /** Of the request that Node is being given. */
  refusal: Refusal | undefined

  constructor(socket: Socket, toNode: (bytes: Buffer) => void, beacons: Beacons) {
    this.#socket = socket
    this.#toNode = toNode
    this.#beacons = beacons
  }

  /** Takes bytes that arrived. */
  read(bytes: Buffer): void {
    // Behind what waits already, too: a refused beacon is Node's, but what came with it has not been read.
    if (this.#reader === 'beacon' || this.#waiting) {
      this.#waiting = this.#waiting ? Buffer.concat([this.#waiting, bytes]) : bytes
      this.#socket.pause()
    } else if (this.#reader === 'Node') {
      this.#bytesLeft -= bytes.length
      this.#toNode(bytes)
    } else {
      const head = readBeaconHead(bytes)
      const isWhole = head !== null && head.end <= bytes.length
      const areTaken = !this.#isFirst && this.#beacons.areTaken && this.#socket.writable
      if (isWhole && areTaken) void this.#answer(bytes, head)
      else this.#giveToNode(bytes, head?.end ?? endOfHead(bytes))
    }
  }

  /** Hands Node bytes that begin with a request, which ends after `end` of them; -1: nobody knows. */
  #giveToNode(bytes: Buffer, end: number): void {
    this.#reader = 'Node'
    this.#isFirst = false
    this.#requests = 0
    this.#bytesLeft = end - bytes.length
    this.#toNode(bytes)
  }

  /** Is told of each request that Node's parser has read the head of. */
  noteRequest(request: IncomingMessage, response: ServerResponse): void {
    this.#requests++
    response.on('finish', () => {
      // Its parser has read this one request, wholly, and not a byte more.
      if (this.#requests === 1 && this.#bytesLeft === 0 && request.complete) this.#goOn()
    })
  }

  async #answer(bytes: Buffer, { headers, bodyAt, end }: BeaconHead): Promise<void> {
    this.#reader = 'beacon'
    if (end < bytes.length) this.#waiting = bytes.subarray(end)
    const body = bytes.subarray(bodyAt, end)
    let answer: WireAnswer | undefined
    this.#beacons.begin()
    try {
      answer = await this.#beacons.take({ headers, body, socket: this.#socket })
    } catch (error) {
      this.refusal = { body, error }
    }
    if (answer) this.#write(answer)
    // A parser whose connection has ended may be another's by now.
    else if (!this.#socket.destroyed) this.#giveToNode(bytes.subarray(0, end), end)
    this.refusal = undefined
    this.#beacons.end()
  }

  #write({ text, encoding }: WireAnswer): void {
    const socket = this.#socket
    if (!socket.writable) return
    if (socket.write(text, encoding)) this.#goOn()
    // Who reads no answers gets to send no requests.
    else socket.pause().once('drain', () => this.#goOn())
  }

  /** All that was read is answered: on to what came meanwhile. */
  #goOn(): void {
    this.#reader = 'next'
    if (this.#socket.isPaused()) this.#socket.resume()
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting) this.read(waiting)
  }
}

/** Where a request ends that is its head alone, if these bytes are one: Node tells whether they are. */
function endOfHead(bytes: Buffer): number {
  const end = bytes.indexOf('\r\n\r\n') + 4
  return end === bytes.length ? end : -1
}
