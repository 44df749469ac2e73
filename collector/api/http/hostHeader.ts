import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { malformed } from './errors.ts'

/** Whether a request has several Host headers, of which a proxy may use another one than Node. */
export function namesSeveralHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.length === hostLength && rawHeaders[at]!.toLowerCase() === 'host') hosts++
  return hosts > 1
}

const hostLength = 'host'.length

/** Answers such a request with 400 (RFC 9112, 3.2). Register it before all other hooks. */
export function refuseSeveralHosts(
  { raw }: FastifyRequest,
  _reply: FastifyReply,
  done: HookHandlerDoneFunction,
): void {
  done(
    namesSeveralHosts(raw.rawHeaders)
      ? malformed('The request has more than one Host header.')
      : undefined,
  )
}
