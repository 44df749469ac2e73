import { setTimeout as delay } from 'node:timers/promises'
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import type { NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node'
import { StartError } from '../../platform/startError.ts'
import { LogUnavailable } from '../log/eventLog.ts'

interface NatsClient {
  readonly connection: NatsConnection
  readonly stream: JetStreamClient
  readonly manager: JetStreamManager
}

/** The connection of one process. It connects in the background, and again after each loss. */
export interface NatsLink {
  /** Null before the first connection, and while there is none. */
  readonly client: NatsClient | null
  /** Resolves with the first connection. */
  ready(): Promise<NatsClient>
  close(): Promise<void>
}

const connectTimeoutMs = 2_000
const reconnectMs = 250
const requestTimeoutMs = 3_000
const pingMs = 2_000

/** Connects to the servers. It does not wait for them. Throws StartError without the packages. */
export async function openNatsLink(servers: readonly string[]): Promise<NatsLink> {
  const { connect, jetstream, jetstreamManager } = await readPackages()
  let client: NatsClient | null = null
  let isConnected = false
  let isClosed = false
  const connectOnce = () =>
    connect({
      ...addressOf(servers),
      name: 'footfall',
      maxReconnectAttempts: -1,
      reconnectTimeWait: reconnectMs,
      timeout: connectTimeoutMs,
      pingInterval: pingMs,
      maxPingOut: 2,
      ignoreAuthErrorAbort: true,
    })
  const open = async (): Promise<NatsClient> => {
    let connection = await connectOnce().catch(() => null)
    while (!connection) {
      if (isClosed) throw new Error('the connection to NATS was closed')
      await delay(reconnectMs)
      connection = await connectOnce().catch(() => null)
    }
    if (isClosed) await connection.close()
    isConnected = true
    void (async () => {
      for await (const { type } of connection.status()) {
        if (type === 'disconnect' || type === 'staleConnection') isConnected = false
        if (type === 'reconnect') isConnected = true
      }
    })()
    client = {
      connection,
      stream: jetstream(connection, { timeout: requestTimeoutMs }),
      // The check would require a leader of the JetStream cluster now.
      manager: await jetstreamManager(connection, { timeout: requestTimeoutMs, checkAPI: false }),
    }
    return client
  }
  const opening = open()
  // A caller of `ready` hears of it.
  opening.catch(() => {})
  return {
    get client() {
      return isConnected ? client : null
    },
    ready: () => opening,
    async close() {
      isClosed = true
      isConnected = false
      await client?.connection.close()
    },
  }
}

/** Connects once, and returns why the servers cannot be used; null if they answer. */
export async function connectionRefusal(servers: readonly string[]): Promise<string | null> {
  const { connect } = await readPackages()
  try {
    const connection = await connect({
      ...addressOf(servers),
      name: 'footfall-server doctor',
      reconnect: false,
      timeout: connectTimeoutMs,
    })
    await connection.close()
    return null
  } catch (error) {
    const { message } = error as Error
    return /authorization|authentication/i.test(message)
      ? `${message}: check the user and the password in NATS_URL`
      : `${message}: check the addresses in NATS_URL and the servers`
  }
}

/** Credentials and TLS are in the addresses; all servers of a cluster share them. */
function addressOf(servers: readonly string[]): NodeConnectionOptions {
  const urls = servers.map((server) => new URL(server))
  const { username, password } = urls[0]!
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)]
  const address: NodeConnectionOptions = {
    servers: urls.map(({ host }) => host),
    tls: urls.some(({ protocol }) => protocol === 'tls:') ? {} : null,
  }
  if (!user) return address
  return pass ? { ...address, user, pass } : { ...address, token: user }
}

/** The packages are optional: only a service with several machines needs them. */
async function readPackages() {
  try {
    const [transport, jetStream] = await Promise.all([
      import('@nats-io/transport-node'),
      import('@nats-io/jetstream'),
    ])
    return { ...transport, ...jetStream }
  } catch {
    throw new StartError(
      'NATS_URL is set, but the packages of NATS are not installed. Run `npm install @nats-io/jetstream @nats-io/transport-node`.',
    )
  }
}

/** A message for one stream. `id` identifies its rows, so that a repeated publish is stored once. */
export interface LogMessage {
  subject: string
  id: string
  bytes: Uint8Array
}

const publishTryMs = 1_000
const publishPauseMs = 100

/**
 * Publishes a message until a majority of the replicas has it, and resolves with its position. Rejects with
 * LogUnavailable after `withinMs`. The message may have been stored nevertheless: no answer arrived.
 */
export async function publish(
  link: NatsLink,
  { subject, id, bytes }: LogMessage,
  withinMs: number,
): Promise<number> {
  const until = performance.now() + withinMs
  let reason = 'NATS is not connected'
  do {
    const { client } = link
    if (client) {
      try {
        const ack = await client.stream.publish(subject, bytes, {
          msgID: id,
          timeout: publishTryMs,
        })
        return ack.seq
      } catch (error) {
        reason = (error as Error).message
      }
    } else if (withinMs < Infinity) break
    await delay(publishPauseMs)
  } while (performance.now() < until)
  throw new LogUnavailable(`NATS did not store the rows: ${reason}`)
}
