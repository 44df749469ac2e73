import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { Connection } from './connection.ts'
import type { Refusal, TakeBeacon } from './wireBeacon.ts'

export interface BetweenRequests {
  /** The refusal of a request, while the server's listeners handle it. */
  refusalOf(request: IncomingMessage): Refusal | undefined
  /** Passes all bytes that arrive from now on to Node. Resolves when earlier beacons are answered. */
  close(): Promise<void>
}

/**
 * Reads the connections of a server between requests. Node's parser has the first request of each. The next
 * one is passed to `take`, and never reaches the parser, if it is a complete beacon of the strict shape
 * (beaconHead.ts). All other bytes reach it, in order. So Node keeps its clocks, limits and lists of
 * connections, which pause between requests. No byte is read by two parsers that could disagree about the end
 * of a request (request smuggling; RFC 9112, 11.2).
 */
export function readBetweenRequests(server: Server, take: TakeBeacon): BetweenRequests {
  const connections = new WeakMap<Socket, Connection>()
  let underWay = 0
  let isClosed = false
  let allAnswered = () => {}
  const beacons = {
    take,
    get areTaken() {
      return !isClosed
    },
    begin() {
      underWay++
    },
    end() {
      if (--underWay === 0) allAnswered()
    },
  }

  // Node's own listener runs first, so its parser exists.
  server.on('connection', (socket) => {
    const [toNode, ...others] = socket.listeners('data') as ((bytes: Buffer) => void)[]
    if (!toNode || others.length > 0) return
    const connection = new Connection(socket, toNode, beacons)
    connections.set(socket, connection)
    // With a second listener, Node reads through the socket's events instead of directly; then this becomes
    // the only listener.
    socket.on('data', (bytes: Buffer) => connection.read(bytes))
    socket.removeListener('data', toNode)
  })
  server.prependListener('request', (request, response) => {
    connections.get(request.socket)?.noteRequest(request, response)
  })

  return {
    refusalOf: ({ socket }) => connections.get(socket)?.refusal,
    async close() {
      isClosed = true
      if (underWay > 0)
        await new Promise<void>((resolve) => {
          allAnswered = resolve
        })
    },
  }
}
