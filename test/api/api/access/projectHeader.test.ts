/** X-Project-Id in the document and against a body. `spec/routes/` asks every route with it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { resolveRefs } from '../../../harness/openapi.ts'
import { type Accounts, openAccounts } from '../../accounts/harness.ts'

interface Operation {
  parameters?: { name: string; in: string; schema?: { type?: string } }[]
  requestBody?: { content: Record<string, { schema: { properties?: object } }> }
  security?: Record<string, unknown>[]
}

let it: Accounts
let other: string
let operations: { route: string; operation: Operation }[]

const takes = ({ parameters = [], requestBody }: Operation): boolean =>
  parameters.some(({ name, in: place }) => name === 'project_id' && place !== 'header') ||
  Object.values(requestBody?.content ?? {}).some(
    ({ schema }) => 'project_id' in (schema.properties ?? {}),
  )

beforeAll(async () => {
  it = await openAccounts()
  other = await it.makeProject('Another project')
  const document = resolveRefs((await it.done({}, 'GET /openapi.json')) as { paths: object })
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({
      route: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  )
})
afterAll(() => it.close())

const askWith = (key: object, route: string, projectId: string, body?: unknown) =>
  it.ask({ ...(key as Record<string, string>), 'x-project-id': projectId }, route, body)

describe('X-Project-Id', () => {
  test('is documented by every operation that takes a project and needs a caller', () => {
    const scoped = operations.filter(
      ({ operation }) => takes(operation) && operation.security?.length,
    )
    expect(scoped.length).toBeGreaterThan(50)
    const silent = scoped.filter(
      ({ operation }) => !operation.parameters?.some(({ name }) => name === 'X-Project-Id'),
    )
    expect(silent.map(({ route }) => route)).toEqual([])
  })

  test('is taken by every operation on lists, exports, integrations, campaigns, audiences and usage', () => {
    const families =
      /api\/v1\/(lists|exports|integrations|campaigns|audiences(?!\/(schema|templates))|billing\/usage)/
    const deaf = operations.filter(
      ({ route, operation }) => families.test(route) && !takes(operation),
    )
    expect(deaf.map(({ route }) => route)).toEqual([])
  })

  test.each([[{ toString: 1, valueOf: 1 }], [7], [null], [['a']]])(
    'is not overridden by a body whose project_id is %j',
    async (project_id) => {
      const named = { name: 'A campaign', start_date: '2026-01-01', project_id }
      const { status, body } = await askWith(it.key, 'POST /api/v1/campaigns', other, named)
      if (project_id === null) expect([status, body.campaign?.project_id]).toEqual([201, other])
      else expect([status, body.error]).toEqual([400, 'invalid_parameter'])
    },
  )
})
