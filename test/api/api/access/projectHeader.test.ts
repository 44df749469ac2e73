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
let stranger: Awaited<ReturnType<Accounts['openStranger']>>
let operations: { route: string; operation: Operation }[]
let keys: Record<'organization' | 'project' | 'session', Record<string, string>>

const nobody = '00000000-0000-4000-8000-000000000000'
const takes = ({ parameters = [], requestBody }: Operation): boolean =>
  parameters.some(({ name, in: place }) => name === 'project_id' && place !== 'header') ||
  Object.values(requestBody?.content ?? {}).some(
    ({ schema }) => 'project_id' in (schema.properties ?? {}),
  )

beforeAll(async () => {
  it = await openAccounts()
  other = await it.makeProject('Another project')
  stranger = await it.openStranger()
  keys = { organization: it.key, project: await it.makeKey(it.demo.project_id), session: it.owner }
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

  test('that is no UUID is refused by every operation that documents it', async () => {
    for (const { route, operation } of operations) {
      if (!takes(operation) || !operation.parameters?.some(({ name }) => name === 'X-Project-Id'))
        continue
      const isForKeys = operation.security?.some((one) => 'key' in one)
      const hasBody = operation.requestBody?.content['application/json'] !== undefined
      const path = route.replace(/\{\w+\}/g, nobody)
      const { status, body } = await askWith(
        isForKeys ? keys.organization : keys.session,
        path,
        'nonsense',
        hasBody ? {} : undefined,
      )
      expect({ route, status, message: body?.message }).toMatchObject({
        route,
        status: 400,
        message: expect.stringContaining('X-Project-Id'),
      })
    }
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

  const mismatch = 'project_id does not match API key scope'
  const families = [
    ['/api/v1/lists', 403, mismatch],
    ['/api/v1/exports', 403, mismatch],
    ['/api/v1/integrations', 403, mismatch],
    ['/api/v1/campaigns', 403, mismatch],
    ['/api/v1/campaigns/performance-summary', 403, mismatch],
    ['/api/v1/campaigns/budget-summary', 403, mismatch],
    ['/api/v1/audiences/linkage-usage', 403, mismatch],
    ['/api/v1/billing/usage', 403, mismatch],
    ['/api/v1/billing/usage/by-meter', 403, mismatch],
    ['/api/v1/billing/usage/daily-by-meter', 403, mismatch],
    ['/api/v1/audiences', 403, 'access denied'],
    ['/api/v3/events/web_event', 404, 'project not found'],
    ['/api/v1/resolution/statistics', 403, mismatch],
    ['/api/v1/pixel/list', 401, 'Invalid API key'],
  ] as const
  test.each(families)(
    'on %s: a project key gets %i %s for another project',
    async (path, status, error) => {
      const foreign = await askWith(keys.project, `GET ${path}`, other)
      expect([foreign.status, foreign.body.error]).toEqual([status, error])
      for (const key of Object.values(keys)) {
        const own = await askWith(key, `GET ${path}`, it.demo.project_id)
        // Data routes refuse a session; they answer a key.
        if (key !== keys.session || own.status !== 401)
          expect([path, own.status]).toEqual([path, 200])
        if (key === keys.project || own.status !== 200) continue
        const unknown = await askWith(key, `GET ${path}`, stranger.project)
        expect([unknown.status, unknown.body.error]).toEqual([404, 'project not found'])
        const differs = await askWith(key, `GET ${path}?project_id=${it.demo.project_id}`, other)
        expect([differs.status, differs.body.message]).toEqual([
          400,
          'project_id: differs from the X-Project-Id header',
        ])
      }
    },
  )

  test('narrows a record that is requested or changed by its id', async () => {
    const json = { name: 'A campaign', start_date: '2026-01-01' }
    const { status, body } = await askWith(it.key, 'POST /api/v1/campaigns', other, json)
    expect([status, body.campaign.project_id]).toEqual([201, other])
    const one = `/api/v1/campaigns/${body.campaign.campaign_id}`
    for (const [route, change] of [
      [`GET ${one}`, undefined],
      [`PATCH ${one}`, { name: 'Renamed' }],
      [`GET ${one}/performance`, undefined],
    ] as const) {
      const wrong = await askWith(it.key, route, it.demo.project_id, change)
      expect([route, wrong.status, wrong.body.error]).toEqual([route, 404, 'campaign not found'])
      expect((await askWith(it.key, route, other, change)).status).toBe(200)
    }
  })
})
