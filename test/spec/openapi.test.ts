/** GET /openapi.json describes every route, and the routes answer accordingly. */
import Ajv2020 from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { visitorTiers } from '../../collector/events/visitors/visitorsRequest.ts'
import { resolveRefs } from '../harness/openapi.ts'
import { beginsWork, freeAnswers } from './freeAnswers.ts'
import { samples } from './samples.ts'
import { openTenants, withKey } from './tenants.ts'

interface Operation {
  operationId?: string
  summary?: string
  tags?: string[]
  parameters?: { name: string; in: string; description?: string }[]
  requestBody?: { content: Record<string, { schema: JsonSchema }> }
  responses: Record<
    string,
    { description: string; content?: Record<string, { schema: JsonSchema }> }
  >
}
interface JsonSchema {
  type?: string | string[]
  description?: string
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
}
interface OpenApi {
  openapi: string
  paths: Record<string, Record<string, Operation>>
}

let service: Awaited<ReturnType<typeof openTenants>>
let document: OpenApi
beforeAll(async () => {
  service = await openTenants()
  document = resolveRefs((await service.app.inject('/openapi.json')).json())
})
afterAll(() => service.close())

const operationOf = (name: string): Operation | undefined => {
  const [method, path] = name.split(' ') as [string, string]
  return document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
}

test('every route is described, with a summary, a tag and what it answers', () => {
  expect(document.openapi).toBe('3.1.0')
  for (const name of Object.keys(samples)) {
    const operation = operationOf(name)
    expect({ name, summary: operation?.summary, tags: operation?.tags }).toEqual({
      name,
      summary: expect.stringMatching(/./),
      tags: [expect.stringMatching(/./)],
    })
    expect(Object.keys(operation!.responses), name).toEqual(
      expect.arrayContaining(['400', '401', '503']),
    )
    expect(
      Object.keys(operation!.responses).some((status) => status.startsWith('2')),
      name,
    ).toBe(true)
  }
})

function validator() {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  addFormats(ajv)
  ajv.addFormat('int64', true)
  return ajv
}

/** An answer without each of its members in turn, where they are always there, and with another type in their place. */
function spoiltOnes(answer: Record<string, unknown>, { required = [] }: JsonSchema): unknown[] {
  return required.flatMap((name) => {
    const { [name]: value, ...rest } = answer
    return [rest, { ...rest, [name]: Array.isArray(value) ? {} : [] }]
  })
}

/** Every object schema of a 2xx JSON answer that names members, with the path to it. */
function objectsIn(schema: JsonSchema, path: string): { path: string; schema: JsonSchema }[] {
  const { properties = {}, items, anyOf = [], oneOf = [], allOf = [] } = schema
  const inner = [
    ...Object.entries(properties).flatMap(([name, member]) => objectsIn(member, `${path}.${name}`)),
    ...(items ? objectsIn(items, `${path}[]`) : []),
    ...[...anyOf, ...oneOf, ...allOf].flatMap((part) => objectsIn(part, path)),
  ]
  return schema.properties ? [{ path, schema }, ...inner] : inner
}

/** The fields of rows and people depend on `select` and the tier: the schema routes list them. */
const isRow = /\.(rows\[\]|visitors\[\]|person|company|results\[\])$/

const answersOf = (operation: Operation) =>
  Object.entries(operation.responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content }]) => content?.['application/json']?.schema ?? [])

test('every successful answer says which of its members are always there', () => {
  const silent: string[] = []
  let answers = 0
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(operations)) {
      for (const schema of answersOf(operation)) {
        answers++
        for (const object of objectsIn(schema, `${method.toUpperCase()} ${path}`)) {
          if (!object.schema.required?.length && !isRow.test(object.path)) silent.push(object.path)
        }
      }
    }
  }
  expect(answers).toBeGreaterThan(60)
  expect(silent).toEqual([])
})

test('a change names only what it changes, and a deletion answers 204 unless it reports something', () => {
  for (const [path, { patch, delete: deletion }] of Object.entries(document.paths)) {
    const body = patch?.requestBody?.content['application/json']?.schema
    expect([path, body?.required ?? []]).toEqual([path, []])
    if (!deletion || '204' in deletion.responses) continue
    const reported = answersOf(deletion).flatMap(({ properties = {} }) => Object.keys(properties))
    expect([path, reported.filter((name) => name !== 'deleted')]).not.toEqual([path, []])
  }
})

test('answers with people in them are among those that are checked below', async () => {
  const key = withKey(service.ours.key)
  for (const name of [
    ...visitorTiers.map((tier) => `GET /api/v3/events/${tier}/visitors`),
    'GET /api/v1/lookup',
    'POST /api/v1/lookup/batch',
    'POST /api/v1/contact/query',
    'GET /api/v1/resolution/statistics',
  ]) {
    const { text } = await service.ask(name, service.ours, key)
    expect({ name, text }).toEqual({
      name,
      text: expect.stringMatching(/"hem":"[0-9a-f]{64}"|"resolved_visitors":1/),
    })
  }
})

test('what every route answers to those it serves and to those it refuses is as described', {
  timeout: 120_000,
}, async () => {
  const ajv = validator()
  const session = await service.withSession(service.ours.owner)
  for (const name of Object.keys(samples)) {
    for (const headers of [service.ours.key, service.ours.projectKey, service.theirs.key, null].map(
      (key) => (key ? (name.includes('/dashboard/') ? session : withKey(key)) : {}),
    )) {
      const { status, text } = await service.ask(name, service.ours, headers)
      const described = operationOf(name)!.responses[String(status)]
      expect(described, `${name} answered ${status} ${text}`).toBeDefined()
      if (text === '') continue
      const schema = described!.content?.['application/json']?.schema
      expect(schema, `${name} ${status} describes no body`).toBeDefined()
      const isAsDescribed = ajv.validate(schema!, JSON.parse(text))
      expect({ name, status, errors: isAsDescribed ? null : ajv.errors, text }).toMatchObject({
        errors: null,
      })
      // A validator that cannot fail proves nothing: each answer, spoilt, is refused.
      for (const spoilt of spoiltOnes(JSON.parse(text), schema!)) {
        expect({ name, status, spoilt, passes: ajv.validate(schema!, spoilt) }).toMatchObject({
          passes: false,
        })
      }
    }
  }
})

test('every page of a list has one list, which the client goes through', () => {
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { parameters = [], requestBody, responses }] of Object.entries(methods)) {
      const name = `${method} ${path}`
      if (method === 'get') expect(requestBody, name).toBeUndefined()
      if (!parameters.some((parameter) => parameter.name === 'cursor')) continue
      const { properties = {} } = responses[200]!.content!['application/json']!.schema
      const lists = Object.values(properties).filter(({ type }) => type === 'array')
      expect({ name, lists: lists.length }).toEqual({ name, lists: 1 })
    }
  }
})

test('each operation has a line that says how many free answers it takes', () => {
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  const ids = operations.flatMap(({ operationId }) => operationId ?? [])
  expect(Object.keys(freeAnswers).toSorted()).toEqual(ids.toSorted())
  const refusable = operations.filter(({ responses }) =>
    responses['429']?.description.includes('`free_answers`'),
  )
  expect(refusable.map(({ operationId }) => operationId!).toSorted()).toEqual(
    ids.filter((id) => freeAnswers[id] === 1 && !beginsWork.has(id)).toSorted(),
  )
})

test('requests take no more free answers than their lines say', { timeout: 120_000 }, async () => {
  const { organizationId } = service.theirs
  const left = async () => (await service.allowance.read(organizationId)).left
  const took: string[] = []
  for (const name of Object.keys(samples)) {
    const { operationId } = operationOf(name) ?? {}
    if (!operationId || !/^(GET|POST) /.test(name)) continue
    const before = await left()
    await service.ask(name, service.theirs, withKey(service.theirs.key))
    const taken = before - (await left())
    expect({ name, isCovered: taken <= freeAnswers[operationId]! }).toEqual({
      name,
      isCovered: true,
    })
    if (taken === 1) took.push(operationId)
  }
  expect(took).toContain('sampleAudience')
})
