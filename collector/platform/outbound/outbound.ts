import http, { type IncomingHttpHeaders } from 'node:http'
import https from 'node:https'
import { allowAddresses } from './addresses.ts'
import { createGuardedAgents, type GuardedAgents } from './agents.ts'
import { OutboundError, toOutboundError } from './outboundError.ts'
import { createResolve } from './resolve.ts'

export interface OutboundRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  headers?: Readonly<Record<string, string>>
  body?: string | Buffer
  /** The time limit from resolving the name to the last byte; default 15 s. */
  timeoutMs?: number
  /** Default 1 MiB. */
  responseBytesMax?: number
  /** Whether to return the beginning of a body that is interrupted, as not `isWhole`. */
  takesPart?: boolean
  signal?: AbortSignal
}

export interface OutboundResponse {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
  isWhole: boolean
}

/** Requests to addresses that customers give. */
export interface Outbound {
  /**
   * Sends one request. Redirects are returned like other responses, and not followed. Throws OutboundError
   * without a complete response.
   */
  send(request: OutboundRequest): Promise<OutboundResponse>
  /**
   * Checks a URL before it is stored. Throws OutboundError "address_refused" for a URL that is not http(s),
   * contains a password, or resolves to an internal address. A name that does not resolve (yet) is accepted.
   */
  check(url: string): Promise<URL>
  /** Agents for clients that send their own requests. */
  agents: GuardedAgents
}

interface OutboundOptions {
  /** FOOTFALL_OUTBOUND_ALLOW: internal hosts, addresses and ranges that requests may reach. */
  allow: readonly string[]
  /** DNS servers; default: those of the system. */
  nameServers?: readonly string[]
}

const defaults = { timeoutMs: 15_000, responseBytesMax: 1024 * 1024 }

export function openOutbound({ allow, nameServers }: OutboundOptions): Outbound {
  const allowed = allowAddresses(allow)
  const resolve = createResolve(allowed, nameServers)
  const agents = createGuardedAgents(resolve)
  return {
    agents,
    send: (request) => send(agents, request),
    async check(text) {
      const url = readUrl(text)
      await resolve(hostOf(url)).catch((error: OutboundError) => {
        if (error.code !== 'not_resolved') throw error
      })
      return url
    },
  }
}

/** Returns the host of a URL for name resolution, without the brackets of IPv6. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

function readUrl(text: string): URL {
  const refused = (message: string) => new OutboundError('address_refused', message)
  if (!URL.canParse(text)) throw refused('This is not a URL.')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw refused('A URL begins with https:// or http://.')
  if (url.username !== '' || url.password !== '')
    throw refused('A URL must not contain a user name or a password.')
  return url
}

async function send(agents: GuardedAgents, asked: OutboundRequest): Promise<OutboundResponse> {
  const { timeoutMs, responseBytesMax, ...request } = { ...defaults, ...asked }
  const url = readUrl(request.url)
  const host = hostOf(url)
  const deadline = AbortSignal.timeout(timeoutMs)
  const signal = request.signal ? AbortSignal.any([deadline, request.signal]) : deadline
  let wasConnected = false
  const connected = () => {
    wasConnected = true
  }
  const told = (error: unknown) =>
    deadline.aborted
      ? new OutboundError(
          'timed_out',
          `${host} has not answered within ${timeoutMs / 1000} seconds.`,
        )
      : toOutboundError(error, host, wasConnected)
  try {
    const response = await begin(agents, url, { ...request, signal }, connected)
    const { chunks, failure } = await readBody(response, responseBytesMax, host)
    if (failure !== null && !request.takesPart) throw failure
    return {
      status: response.statusCode!,
      headers: response.headers,
      body: Buffer.concat(chunks).subarray(0, responseBytesMax),
      isWhole: failure === null,
    }
  } catch (error) {
    throw told(error)
  }
}

function begin(
  agents: GuardedAgents,
  url: URL,
  { method, headers, body, signal }: OutboundRequest,
  connected: () => void,
): Promise<http.IncomingMessage> {
  const isTls = url.protocol === 'https:'
  const [client, agent] = isTls ? [https, agents.https] : [http, agents.http]
  const options = {
    method,
    agent,
    signal,
    headers: {
      'accept-encoding': 'identity',
      ...headers,
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    },
  }
  return new Promise((resolve, reject) => {
    const request = client.request(url, options, resolve)
    request.on('socket', (socket) => socket.once(isTls ? 'secureConnect' : 'connect', connected))
    request.on('error', reject)
    request.end(body)
  })
}

/** Reads a body until it is complete, too long, or interrupted. */
async function readBody(
  response: http.IncomingMessage,
  bytesMax: number,
  host: string,
): Promise<{ chunks: Buffer[]; failure: unknown }> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > bytesMax) {
        const failure = new OutboundError(
          'response_too_large',
          `${host} answered with more than ${bytesMax} bytes.`,
        )
        return { chunks, failure }
      }
    }
    return { chunks, failure: null }
  } catch (failure) {
    return { chunks, failure }
  }
}
