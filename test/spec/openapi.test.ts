/** GET /openapi.json describes every route. `routes/` compares every answer with it. */
import { beforeAll, expect, test } from 'vitest'
import { resolveRefs } from '../harness/openapi.ts'
import { type JsonSchema, type OpenApi, type Operation, operationOf } from './described.ts'
import { beginsWork, freeAnswers } from './freeAnswers.ts'
import { samples } from './samples.ts'
import { type Tenants, tenantsOfWorker } from './tenants.ts'

let service: Tenants
let document: OpenApi
beforeAll(async () => {
  service = await tenantsOfWorker()
  document = resolveRefs((await service.app.inject('/openapi.json')).json())
})

test('every route is described, with a summary, a tag and what it answers', () => {
  expect(document.openapi).toBe('3.1.0')
  for (const name of Object.keys(samples)) {
    const operation = operationOf(document, name)
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
