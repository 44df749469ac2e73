/** Requests in the documentation work with a test key, and examples of answers are as their schemas say. */
import Ajv2020 from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sampleIdentity } from '../../collector/api/access/sandboxTenant.ts'
import {
  type Document,
  type Operation,
  publicOperations,
} from '../../collector/api/openapi/document.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { resolveRefs } from '../harness/openapi.ts'
import { type Answering, waitFor } from '../harness/service.ts'
import { openTenant } from '../harness/sharedApp.ts'
import { sampleRefusals } from './sampleTenant.ts'

let service: Answering
let document: Document
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
  document = resolveRefs((await (await fetch(`${service.url}/openapi.json`)).json()) as Document)
}, 600_000)
afterAll(() => service?.stop())

type Asked = Partial<Record<'params' | 'query', Record<string, string>>> & { body?: unknown }

/** Sends an operation with the demo's test key. */
async function ask(name: string, { params = {}, query = {}, body }: Asked) {
  const [method, path] = name.split(' ') as [string, string]
  const url = `${service.url}${path.replace(/\{(\w+)\}/g, (_, parameter) => params[parameter]!)}`
  const answer = await fetch(`${url}?${new URLSearchParams(query)}`, {
    method,
    headers: {
      'x-api-key': service.demo.test_api_key,
      'x-api-secret': service.demo.test_api_secret,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, text: await answer.text() }
}

const forKeys = ({ security, tags }: Operation) =>
  security?.some((one) => 'key' in one) && !tags?.includes('Ingest')

/** Operations that the sample refuses. */
const withoutExample = (name: string) =>
  sampleRefusals[name.replace(/\{(\w+)\}/g, ':$1')] !== undefined

test('every example of the document is answered to the demo’s test key as it says', async () => {
  const wrong: unknown[] = []
  let asked = 0
  for (const [name, { parameters = [], requestBody, ...operation }] of publicOperations(document)) {
    if (!forKeys({ ...operation, parameters }) || withoutExample(name)) continue
    const of = (place: string) =>
      Object.fromEntries(
        parameters
          .filter((one) => one.in === place && one.example !== undefined)
          .map((one) => [one.name, String(one.example)]),
      )
    const lacking = parameters.filter((one) => one.required && one.example === undefined)
    const content = requestBody?.content['application/json']
    if (lacking.length > 0 || (requestBody?.required && content?.example === undefined))
      wrong.push({
        name,
        lacking: lacking.map((one) => one.name),
        hasBody: content?.example !== undefined,
      })
    const { status, text } = await ask(name, {
      params: of('path'),
      query: of('query'),
      body: content?.example,
    })
    asked++
    if (status >= 300 || !(status in operation.responses)) wrong.push({ name, status, text })
  }
  expect(asked).toBeGreaterThan(100)
  expect(wrong).toEqual([])
}, 600_000)

test('every successful JSON answer has an example, which is as its schema says', () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats(ajv)
  ajv.addFormat('int64', true)
  const wrong: unknown[] = []
  for (const [name, { responses }] of publicOperations(document)) {
    for (const [status, { content }] of Object.entries(responses)) {
      const { schema, example } = content?.['application/json'] ?? {}
      if (!status.startsWith('2') || !schema) continue
      if (example === undefined || !ajv.validate(schema, example))
        wrong.push({ name, status, example, errors: ajv.errors })
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
