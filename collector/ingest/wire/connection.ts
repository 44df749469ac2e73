import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type BeaconHead, readBeaconHead } from './beaconHead.ts'
import type { Refusal, TakeBeacon, WireAnswer } from './wireBeacon.ts'

/** Accepts the beacons of all connections. */
interface Beacons {
  readonly take: TakeBeacon
  /** False after the server started to close. */
  readonly areTaken: boolean
  /** Called before each beacon; `end` is called after it. */
  begin(): void
  end(): void
}

/** Which parser reads the next bytes of a connection. */
type Reader =
  /** Undecided: a request begins. */
  | 'next'
  /** Neither; bytes wait while a beacon is being answered. */
  | 'beacon'
  /** Node's parser: it has an unanswered request, or the start of the next request is unknown. */
  | 'Node'

/**
 * A connection, whose requests are read by Node's parser or, if they are complete strict beacons, here.
 *
 *   'next' ─ a complete beacon, not the first request ▶ 'beacon' ─ answered ▶ 'next'
 *      │                                                   └ refused ▶ 'Node'
 *      └ anything else ▶ 'Node' ─ its one request is complete and answered, and no byte is left over ▶ 'next'
 *                           └ otherwise it stays Node's until the connection ends
 */
export class Connection {
  readonly #socket: Socket
  readonly #toNode: (bytes: Buffer) => void
  readonly #beacons: Beacons
  #reader: Reader = 'next'
  /** Node's timeout for silent connections runs until its parser has read a request. */
  #isFirst = true
  /** Remaining bytes of Node's current request; negative if more arrived, or if its end is unknown. */
  #bytesLeft = 0
  /** How many requests Node's parser has read since it last became the reader. */
  #requests = 0
  /** Bytes that arrived with or after a beacon that is being answered. */
  #waiting: Buffer | null = null
  /** The refusal of the beacon that is being passed to Node. */
  refusal: Refusal | undefined

  constructor(socket: Socket, toNode: (bytes: Buffer) => void, beacons: Beacons) {
    this.#socket = socket
    this.#toNode = toNode
    this.#beacons = beacons
  }

  /** Handles arriving bytes. */
  read(bytes: Buffer): void {
    // Also if bytes already wait: Node reads a refused beacon, but the bytes after it were not read yet.
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

  /** Passes Node bytes that begin with a request, which ends after `end` of them; -1: its end is unknown. */
  #giveToNode(bytes: Buffer, end: number): void {
    this.#reader = 'Node'
    this.#isFirst = false
    this.#requests = 0
    this.#bytesLeft = end - bytes.length
    this.#toNode(bytes)
  }

  /** Call it for each request whose header section Node's parser has read. */
  noteRequest(request: IncomingMessage, response: ServerResponse): void {
    this.#requests++
    response.on('finish', () => {
      // The parser has read exactly this one request.
      if (this.#requests === 1 && this.#bytesLeft === 0 && request.complete) this.#runNext()
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
    // The parser of an ended connection may serve another connection by now.
    else if (!this.#socket.destroyed) this.#giveToNode(bytes.subarray(0, end), end)
    this.refusal = undefined
    this.#beacons.end()
  }

  #write({ text, encoding }: WireAnswer): void {
    const socket = this.#socket
    if (!socket.writable) return
    if (socket.write(text, encoding)) this.#runNext()
    // A client that does not read its responses must not send more requests.
    else socket.pause().once('drain', () => this.#runNext())
  }

  /** After the last request is answered, reads the bytes that arrived meanwhile. */
  #runNext(): void {
    this.#reader = 'next'
    if (this.#socket.isPaused()) this.#socket.resume()
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting) this.read(waiting)
  }
}

/**
 * Returns the end of a request without a body, if these bytes are exactly its header section; otherwise -1.
 */
function endOfHead(bytes: Buffer): number {
  const end = bytes.indexOf('\r\n\r\n') + 4
  return end === bytes.length ? end : -1
}
