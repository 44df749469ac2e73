import http from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Resolve } from './resolve.ts'

export interface GuardedAgents {
  http: http.Agent
  https: https.Agent
}

/**
 * Creates agents that connect only to checked addresses. They resolve the name once per connection and
 * connect to that result. So a name server that changes its answer a moment later has no effect. Clients that
 * follow redirects can also use them, because each connection is checked.
 */
export function createGuardedAgents(resolve: Resolve): GuardedAgents {
  const agents = { http: new http.Agent(), https: new https.Agent() }
  for (const agent of Object.values<http.Agent>(agents)) {
    const connect = agent.createConnection.bind(agent)
    agent.createConnection = (options, created) => {
      resolve(options.host!).then(
        (addresses) => created!(null, connect({ ...options, lookup: findAlways(addresses) })!),
        (error: Error) => created!(error, undefined as never),
      )
      return undefined
    }
  }
  return agents
}

function findAlways(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_host, { all }, tell) => {
    if (all) tell(null, found)
    else tell(null, found[0]!.address, found[0]!.family)
  }
}
