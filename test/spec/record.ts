/** Asks routes, and keeps every request and answer. */
import type { RouteOptions } from 'fastify'
import { expect } from 'vitest'
import type { Access } from '../../collector/api/access/routeAccess.ts'
import type { createApp } from '../../collector/app.ts'
import { samples } from './samples.ts'
import type { Tenant } from './tenant.ts'

/** What answers. */
export interface Api {
  readonly app: Awaited<ReturnType<typeof createApp>>
}

export interface Route {
  readonly name: string
  readonly access: Exclude<Access, { to: 'anyone' }>
  readonly isCharged: boolean
  readonly options: RouteOptions
}

/** The rooms of the service that answer, by the paths of their routes. The first that matches decides. */
const rooms = {
  accounts: /^\w+ (\/dashboard\/|\/api\/v1\/(organization|project|whoami)\b)/,
  audiences: /^\w+ \/api\/v1\/(audiences|intent|lists|stats)\b/,
  activation:
    /^\w+ \/api\/v1\/(campaigns|integrations|exports|webhooks|archives|visit-alerts|billing)\b/,
  data: /^\w+ \/api\//,
} as const
export type Room = keyof typeof rooms

export const roomOf = (name: string): Room | undefined =>
  (Object.keys(rooms) as Room[]).find((room) => rooms[room].test(name))

/** Every route of a room that is not for anyone, in the order of `samples`. */
export const routesOf = ({ app }: Api, room: Room): Route[] =>
  Object.keys(samples)
    .filter((name) => roomOf(name) === room)
    .map((name) => {
      const options = app.guardedRoutes.find(({ method, url }) => `${method} ${url}` === name)
      if (!options) throw new Error(`there is no ${name} any more: remove its line in samples.ts`)
      const { access, charged } = options.config!
      return { name, access: access as Route['access'], isCharged: !!charged, options }
    })

export type Place = 'header' | 'path' | 'query' | 'body'

/** A request: who sends it, about whom, and with `named` the project that these places name instead of the sample's. */
export interface Request {
  readonly who: string
  readonly headers: Record<string, string>
  readonly tenant: Tenant
  readonly named?: Partial<Record<Place, string>>
}

/** The values in a request, as text. */
export interface Sent {
  readonly text: string
}

export interface Asked {
  readonly name: string
  readonly who: string
  readonly named: Request['named']
  readonly status: number
  readonly error: unknown
  readonly code: unknown
  readonly parameter: unknown
  readonly text: string
  readonly mode: unknown
  /** X-Footfall-Charged. */
  readonly charged: string | undefined
}

/** Asks a route about a tenant. */
export async function askRoute(
  { app }: Api,
  name: string,
  { who, headers, tenant, named }: Request,
): Promise<{ answer: Asked; sent: Sent }> {
  const [method, path] = name.split(' ') as ['GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', string]
  const sample = samples[name]!
  /** With `named` the project is in these places alone. */
  const naming = (part: Record<string, unknown> | undefined, id: string | undefined) => {
    if (!named) return part
    const { project_id: _, ...rest } = part ?? {}
    return id === undefined ? rest : { ...rest, project_id: id }
  }
  const params = naming(sample.params?.(tenant), named?.path) ?? {}
  const query = naming(sample.query?.(tenant), named?.query) ?? {}
  const body = sample.body && naming(sample.body(tenant), named?.body)
  const reply = await app.inject({
    method,
    url: path.replace(/:(\w+)/g, (_, parameter) => String(params[parameter])),
    query: query as Record<string, string>,
    headers: named?.header === undefined ? headers : { ...headers, 'x-project-id': named.header },
    ...(body && { payload: body }),
  })
  const { error, code, parameter } = errorOf(reply.body)
  const answer = {
    name,
    who,
    named,
    status: reply.statusCode,
    error,
    code,
    parameter,
    text: reply.body,
    mode: reply.headers['x-svc-mode'],
    charged: reply.headers['x-footfall-charged'] as string | undefined,
  }
  return { answer, sent: { text: JSON.stringify([params, query, body]) } }
}

function errorOf(text: string): { error?: unknown; code?: unknown; parameter?: unknown } {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}

export const isAnswered = (status: number): boolean => [200, 201, 202, 204, 409].includes(status)

/** Returns null if an answer has these members, otherwise what was expected and what came. */
export function matching(answer: Asked, expected: object): object | null {
  if (expect.objectContaining(expected).asymmetricMatch(answer)) return null
  const { status, error, text } = answer
  return { expected, got: { status, error, text: text.slice(0, 300) } }
}
