import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { type Random, seededRandom } from '../../collector/platform/seededRandom.ts'
import { resolveRefs } from '../harness/openapi.ts'
import { type Fuzzer, hangMs } from './fuzzer.ts'
import { hostileValue, jsonOf } from './hostile.ts'

interface Parameter {
  name: string
  in: 'path' | 'query' | 'header' | 'cookie'
  required?: boolean
  schema?: Schema
}
interface Schema {
  type?: string | string[]
  format?: string
  enum?: unknown[]
  const?: unknown
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  default?: unknown
}
interface Operation {
  parameters?: Parameter[]
  requestBody?: { content?: Record<string, { schema?: Schema }> }
  responses: Record<string, { content?: Record<string, { schema?: Schema }> }>
}

/** A route of the description, with what checks its answers. */
interface Route {
  method: string
  path: string
  operation: Operation
  /** Status → check of a JSON answer; null where the description names no JSON. */
  checks: Map<string, ValidateFunction | null>
}

const requestsAtOnce = 4
const faultCharsMax = 2_000
/** Ends what the rest of the run needs. Other things are deleted by ids of nobody's. */
const endsTheRun = ({ method, path }: Route) =>
  (method === 'DELETE' && path === '/api/v1/organization') ||
  (method === 'PUT' && path === '/api/v1/billing/limits')

/**
 * Asks every route of /openapi.json with a valid key and values that are right, nearly right, and hostile: of wrong
 * types, long, nested, repeated. No answer of 500 and more but a documented 503 `busy`, none that takes 5 s, and each
 * as it is described.
 */
export const fuzzApi: Fuzzer = async ({ service, seed, count, log }) => {
  const random = seededRandom(seed)
  const { demo } = service
  const known = {
    uuid: [demo.project_id, demo.pixel_id, demo.organization_id],
    key: { 'x-api-key': demo.api_key, 'x-api-secret': demo.api_secret },
  }
  const routes = await describedRoutes(service.url)
  const faults: string[] = []
  const statuses = new Map<string, number>()
  let sent = 0

  const ask = async () => {
    // Every route in turn, so that a short run misses none.
    const route = routes[sent++ % routes.length]!
    const request = requestOf(
      random,
      route,
      route.method === 'DELETE' ? [random.uuid()] : known.uuid,
    )
    const about = `request ${sent}: ${route.method} ${request.path.slice(0, 300)} ${(request.body ?? '').slice(0, 300)}`
    const startedAt = performance.now()
    const answer = await fetch(`${service.url}${request.path}`, {
      method: route.method,
      headers: { ...known.key, ...request.headers },
      ...(request.body !== undefined && { body: request.body }),
      redirect: 'manual',
      signal: AbortSignal.timeout(2 * hangMs),
    }).then(
      async (got) => ({
        status: got.status,
        type: got.headers.get('content-type') ?? '',
        retryAfter: got.headers.get('retry-after'),
        text: await got.text(),
      }),
      (error: Error) => ({
        status: 0,
        type: '',
        retryAfter: null,
        text: String(error.cause ?? error),
      }),
    )
    const tookMs = performance.now() - startedAt
    statuses.set(String(answer.status), (statuses.get(String(answer.status)) ?? 0) + 1)
    if (tookMs > hangMs) faults.push(`${Math.round(tookMs)} ms: ${about}`)
    const fault = faultOf(route, answer)
    if (fault) faults.push(`${fault}: ${answer.text.slice(0, 300)}: ${about}`)
    if (sent % 5_000 === 0) log(`${sent} requests, ${faults.length} faults, ${tableOf(statuses)}`)
  }

  const work = async () => {
    while (sent < count) await ask()
  }
  await Promise.all(Array.from({ length: requestsAtOnce }, work))
  log(`${sent} requests to ${routes.length} routes; ${tableOf(statuses)}`)
  return faults.map((fault) => fault.slice(0, faultCharsMax))
}

const tableOf = (statuses: Map<string, number>) =>
  [...statuses]
    .map(([status, times]) => `${status}: ${times}`)
    .sort()
    .join(', ')

async function describedRoutes(url: string): Promise<Route[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>
  }
  const { paths } = resolveRefs(document)
  const ajv = new Ajv2020({ strict: false, validateFormats: true })
  addFormats(ajv)
  ajv.addFormat('int64', true)
  return Object.entries(paths)
    .flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => ({
        path,
        method: method.toUpperCase(),
        operation,
        checks: new Map(
          Object.entries(operation.responses).map(([status, { content }]) => {
            const schema = content?.['application/json']?.schema
            return [status, schema ? ajv.compile(schema) : null]
          }),
        ),
      })),
    )
    .filter((route) => !endsTheRun(route))
}

interface Answer {
  status: number
  type: string
  retryAfter: string | null
  text: string
}

/** The fault of an answer; null without one. */
function faultOf(
  { checks, path }: Route,
  { status, type, retryAfter, text }: Answer,
): string | null {
  if (status === 0) return 'no answer'
  const body = type.startsWith('application/json') ? parsed(text) : undefined
  const isBusy =
    status === 503 && (body as { error?: string })?.error === 'busy' && retryAfter !== null
  if (status >= 500 && !isBusy) return `${status}`
  if (status >= 400) {
    const { error, message, request_id } = (body ?? {}) as Record<string, unknown>
    const isError = [error, message, request_id].every((member) => typeof member === 'string')
    return isError ? null : `${status} without the body of an error`
  }
  // Ingest, documents and similar routes are described in words.
  if (!path.startsWith('/api/')) return null
  if (!checks.has(String(status))) return `${status} is not described`
  if (body === undefined) return null
  const check = checks.get(String(status))
  if (!check) return `${status} describes no JSON`
  return check(body) ? null : `not as described: ${JSON.stringify(check.errors?.[0])}`
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

interface FuzzRequest {
  path: string
  headers: Record<string, string>
  body?: string
}

function requestOf(
  random: Random,
  { path, operation, method }: Route,
  uuids: string[],
): FuzzRequest {
  const query: string[] = []
  const headers: Record<string, string> = {}
  let filled = path
  for (const { name, in: place, required, schema = {} } of operation.parameters ?? []) {
    if (place === 'path')
      filled = filled.replace(`{${name}}`, encode(parameterOf(random, name, schema, uuids)) || 'x')
    else if (place === 'query' && (required ? !random.chance(0.03) : random.chance(0.3))) {
      const times = random.chance(0.04) ? 2 : 1
      for (let n = 0; n < times; n++)
        query.push(`${name}=${encode(parameterOf(random, name, schema, uuids))}`)
    } else if (place === 'header' && random.chance(0.2)) {
      headers[name] = headerText(parameterOf(random, name, schema, uuids))
    }
  }
  if (random.chance(0.03))
    query.push(`${random.pick(['x', '__proto__', 'constructor', 'limit[]', '%'])}=1`)
  if (random.chance(0.1))
    headers.accept = random.pick(['text/csv', 'application/x-ndjson', '*/*;q=0', 'x'])
  const search = query.length > 0 ? `?${query.join('&')}` : ''
  const address = (filled + search).slice(0, 12_000)
  const schema = operation.requestBody?.content?.['application/json']?.schema
  if (method === 'GET' || (!schema && random.chance(0.9))) return { path: address, headers }
  headers['content-type'] = 'application/json'
  const body = random.chance(0.05) ? '{"a":' : jsonOf(bodyOf(random, schema ?? {}, uuids, 0))
  return { path: address, headers, body }
}

/** A value of a schema, right for the most part; `name` tells what texts mean. */
function parameterOf(random: Random, name: string, schema: Schema, uuids: string[]): unknown {
  if (random.chance(0.15)) return hostileValue(random)
  if (random.chance(0.03))
    return random.pick(['', '0', '-1', '1e9', 'null', '99999999999999999999', '0x10', '٣'])
  if (schema.enum) return random.pick(schema.enum)
  if (schema.const !== undefined) return schema.const
  if (schema.anyOf) return parameterOf(random, name, random.pick(schema.anyOf), uuids)
  const type = Array.isArray(schema.type) ? random.pick(schema.type) : schema.type
  if (schema.format === 'uuid') return random.chance(0.9) ? random.pick(uuids) : random.uuid()
  if (/_ms$/.test(name)) return Date.now() - random.integer(0, 80_000_000)
  if (/_time$|_date$/.test(name))
    return new Date(Date.now() - random.integer(0, 1e9))
      .toISOString()
      .slice(0, random.pick([10, 24]))
  if (type === 'integer' || type === 'number') return random.integer(0, 1_000)
  if (type === 'boolean') return random.chance(0.5)
  if (name === 'filter') {
    const field = random.pick([
      'event_type',
      'url',
      'ts_millis',
      'resolved',
      'event_data.url',
      'hem',
      'country',
    ])
    return `${field}:${random.pick(['eq', 'ne', 'gt', 'like', 'in', 'x'])}:${encode(random.chance(0.5) ? 'click' : hostileValue(random)).slice(0, 200)}`
  }
  if (/select|distinct|group_by/.test(name))
    return random.pick(['event_type', 'event_id,ts_millis', 'hem', 'url,url', ',', 'no_such_field'])
  if (/email/.test(name))
    return random.pick(['a@b.example', 'A@B.example', 'a@', '@', 'é@b.example'])
  if (/hem/.test(name)) return 'a'.repeat(64)
  return random.pick(['a', 'Name', 'x y', '2026-01-01', 'é', '%', "'"])
}

function bodyOf(
  random: Random,
  schema: Schema,
  uuids: string[],
  depth: number,
  name = '',
): unknown {
  if (depth > 6 || random.chance(0.06)) return hostileValue(random)
  if (schema.properties) {
    const entries = Object.entries(schema.properties).filter(([member]) =>
      schema.required?.includes(member) ? !random.chance(0.04) : random.chance(0.4),
    )
    const body: Record<string, unknown> = {}
    for (const [member, inner] of entries)
      body[member] = bodyOf(random, inner, uuids, depth + 1, member)
    if (random.chance(0.03)) body[random.pick(['x', 'toString', '\u0000'])] = hostileValue(random)
    return body
  }
  if (schema.items) {
    return Array.from({ length: random.integer(0, 3) }, () =>
      bodyOf(random, schema.items!, uuids, depth + 1, name),
    )
  }
  if (schema.anyOf) return bodyOf(random, random.pick(schema.anyOf), uuids, depth + 1, name)
  return parameterOf(random, name, schema, uuids)
}

/** The form in a URL: it cannot contain lone surrogates, so browsers replace them. */
const encode = (value: unknown): string =>
  encodeURIComponent(
    (typeof value === 'string' ? value : jsonOf(value ?? null)).toWellFormed().slice(0, 3_000),
  )

const headerText = (value: unknown): string =>
  String(typeof value === 'object' ? jsonOf(value) : value)
    .replace(/[^ -~]/g, '?')
    .slice(0, 2_000)
    .trim()
