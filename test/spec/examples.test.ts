/** Requests in the documentation work with a test key, and examples of answers are as their schemas say. */
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sampleIdentity } from '../../collector/api/access/sandboxTenant.ts'
import {
  type Document,
  type Operation,
  type Parameter,
  publicOperations,
} from '../../collector/api/openapi/document.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { openValidator, placeOfAnswer, placeOfBody, resolveRefs } from '../harness/openapi.ts'
import { type Answering, waitFor } from '../harness/service.ts'
import { openTenant } from '../harness/sharedApp.ts'
import { sampleRefusals } from './sampleTenant.ts'

let service: Answering
let document: Document
let errorsOf: ReturnType<typeof openValidator>
beforeAll(async () => {
  const tenant = await openTenant({ hasSample: true })
  const { env } = tenant
  service = tenant.service
  const postgres = openPostgres(env.DATABASE_URL!, () => {})
  await waitFor(
    'the sample audience and list',
    async () => {
      const { rowCount } = await postgres.query(
        `SELECT FROM audiences, list_imports
         WHERE audience_id = $1 AND current_build_id IS NOT NULL AND import_id = $2 AND status = 'completed'`,
        [sampleIdentity.audienceId, sampleIdentity.importId],
      )
      return rowCount! > 0
    },
    120_000,
  )
  await postgres.end()
  const unresolved = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document
  errorsOf = openValidator(unresolved)
  document = resolveRefs(unresolved)
}, 600_000)
afterAll(() => service?.stop())

type Asked = Partial<Record<'path' | 'query' | 'header', Record<string, string>>> & {
  body?: unknown
}

/** Sends an operation with the demo's test key. */
/** Asks as a client does: again while the import of an earlier example is ending. */
const ask = (name: string, asked: Asked) =>
  waitFor('another answer than busy', async () => {
    const answer = await askOnce(name, asked)
    return answer.status === 503 ? null : answer
  })

async function askOnce(name: string, { path: params = {}, query = {}, header = {}, body }: Asked) {
  const [method, path] = name.split(' ') as [string, string]
  const url = `${service.url}${path.replace(/\{(\w+)\}/g, (_, parameter) => params[parameter]!)}`
  const answer = await fetch(`${url}?${new URLSearchParams(query)}`, {
    method,
    headers: {
      ...header,
      'x-api-key': service.demo.test_api_key,
      'x-api-secret': service.demo.test_api_secret,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, text: await answer.text() }
}

/** Operations that a test key may call, except for those of ingest, because they store events. */
const forKeys = ({ security, tags }: Operation) =>
  security?.some((one) => 'key' in one) && !tags?.includes('Ingest')

/** Operations that the state of the sample refuses. */
const withoutExample = (name: string) =>
  sampleRefusals[name.replace(/\{(\w+)\}/g, ':$1')] !== undefined

const exampleOf = ({ example, schema }: Parameter) => example ?? schema?.examples?.[0]

/** The examples of some parameters, by place and name. */
function askedOf(parameters: readonly Parameter[]): Asked {
  const of = (place: string) =>
    Object.fromEntries(
      parameters
        .filter((one) => one.in === place && exampleOf(one) !== undefined)
        .map((one) => [one.name, String(exampleOf(one))]),
    )
  return { path: of('path'), query: of('query'), header: of('header') }
}

/** A request has at most one of these parameters. */
const exclusive = [
  ['start_ms', 'start_time'],
  ['end_ms', 'end_time'],
  ['end', 'goal'],
  ['email', 'hem', 'ip', 'domain', 'cookie_id'],
]

/**
 * All parameters of an operation, with the first or the last of those that exclude each other. Only an earlier answer
 * has a cursor.
 */
const together = (parameters: readonly Parameter[], which: 0 | -1): Parameter[] =>
  parameters.filter(({ name }) => {
    const rivals = exclusive.find((names) => names.includes(name)) ?? [name]
    const present = rivals.filter((rival) => parameters.some((one) => one.name === rival))
    return name !== 'cursor' && name === present.at(which)
  })

test('every example of the document is answered to the demo’s test key as it says', async () => {
  const wrong: unknown[] = []
  let asked = 0
  for (const [name, { parameters = [], requestBody, ...operation }] of publicOperations(document)) {
    const content = requestBody?.content['application/json']
    const lacking = parameters.filter((one) => one.required && one.example === undefined)
    if (lacking.length > 0 || (requestBody?.required && content?.example === undefined))
      wrong.push({
        name,
        lacking: lacking.map((one) => one.name),
        hasBody: content?.example !== undefined,
      })
    if (!forKeys({ ...operation, parameters }) || withoutExample(name)) continue
    let last: Asked | undefined
    for (const some of [
      parameters.filter((one) => one.example !== undefined),
      together(parameters, 0),
      together(parameters, -1),
    ]) {
      const request = { ...askedOf(some), body: content?.example }
      if (isDeepStrictEqual(request, last)) continue
      last = request
      const { status, text } = await ask(name, request)
      asked++
      if (status >= 300 || !(status in operation.responses))
        wrong.push({ name, request, status, text })
    }
  }
  expect(asked).toBeGreaterThan(200)
  expect(wrong).toEqual([])
}, 600_000)

test('examples of JSON bodies and successful answers are as their schemas say', () => {
  const wrong: unknown[] = []
  for (const [name, { requestBody, responses }] of publicOperations(document)) {
    const body = requestBody?.content['application/json']
    const ofBody = body && errorsOf(placeOfBody(name), body.example)
    if (ofBody) wrong.push({ name, body: body.example, errors: ofBody })
    for (const [status, { content }] of Object.entries(responses)) {
      const { schema, example } = content?.['application/json'] ?? {}
      if (!status.startsWith('2') || !schema) continue
      const errors = errorsOf(placeOfAnswer(name, status), example)
      if (example === undefined || errors) wrong.push({ name, status, example, errors })
    }
  }
  expect(wrong).toEqual([])
})

test('rows of an example show the fields that its request selects', () => {
  const operation = publicOperations(document).get('GET /api/v3/events/resolution_full_profile')!
  const select = operation.parameters!.find(({ name }) => name === 'select')!.example as string
  const answer = operation.responses['200']!.content!['application/json']!.example
  const [row] = (answer as { rows: object[] }).rows
  expect(Object.keys(row!).toSorted()).toEqual(select.split(',').toSorted())
})
