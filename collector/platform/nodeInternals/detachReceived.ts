import type { Agent } from 'node:http'
import { detachBuffer } from './detachBuffer.ts'

/**
 * Frees the memory of bytes that the connections of an agent receive, after their listeners have run. Node's HTTP parser
 * has then copied the body out of them. It relies on that copy, and on sockets that own the memory of received bytes.
 */
export function detachReceived<A extends Agent>(agent: A): A {
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (...given) => {
    const socket = connect(...given)
    socket?.on('data', (bytes: Buffer) => process.nextTick(detachBuffer, bytes))
    return socket
  }
  return agent
}
