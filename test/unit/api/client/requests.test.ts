/** Requests of the client for a call; test/api/client shows the service's answers. */
import { expect, test } from 'vitest'
import type { Client, ClientOptions } from '../../../../collector/api/client/client.d.ts'
import { operationsOf } from '../../../../collector/api/client/document.ts'
import { createClient } from '../../../../collector/api/client/index.ts'

/** The requests that calls make. */
async function sentBy(call: (client: Client) => unknown, options: ClientOptions = {}) {
  const sent: { line: string; headers: unknown; body: unknown }[] = []
  const client = createClient({
    baseUrl: 'https://collector.example/base/',
    async fetch(url, { method, headers, body }) {
      sent.push({ line: `${method} ${url}`, headers, body: body && JSON.parse(String(body)) })
      return Response.json({})
    },
    ...options,
  })
  await call(client)
  return sent
}

test('parameters go where the operation has them: path, query, body', async () => {
  const sent = await sentBy(async (client) => {
    await client.getCampaignPerformance({
      campaign_id: 'a/b',
      start_date: '2026-01-01',
      end_date: undefined,
    })
    await client.updateAudience({ audience_id: 'x', project_id: 'p&', name: 'New', version: 1 })
    await client.deleteProject({ project_id: 'p', events: 'keep' })
    await client.revokeApiKey({ key_id: 'k' })
    await client.acceptInvitation({ token: 't' })
    await client.listProjects()
  })
  expect(
    sent.map(({ line, body }) => [line.replace('https://collector.example', ''), body]),
  ).toEqual([
    ['GET /base/api/v1/campaigns/a%2Fb/performance?start_date=2026-01-01', undefined],
    ['PATCH /base/api/v1/audiences/x?project_id=p%26', { name: 'New', version: 1 }],
    ['DELETE /base/api/v1/project/delete', { project_id: 'p', events: 'keep' }],
    ['DELETE /base/dashboard/keys/k', undefined],
    ['POST /base/dashboard/invitation/t', {}],
    ['GET /base/api/v1/project/list', undefined],
  ])
})

test('a key with its secret, a token, and headers of the client and of the call', async () => {
  const headersOf = async (options: ClientOptions) =>
    (await sentBy((client) => client.whoAmI({}, { headers: { 'x-call': '1' } }), options))[0]!
      .headers
  expect(await headersOf({ key: 'k', secret: 's' })).toEqual({
    'x-api-key': 'k',
    'x-api-secret': 's',
    'x-call': '1',
  })
  let asked = 0
  const headers = () => ({ 'x-asked': String(++asked) })
  expect(await headersOf({ token: 't', headers })).toEqual({
    authorization: 'Bearer t',
    'x-asked': '1',
    'x-call': '1',
  })
})

test('a call without what its path names is an error of the caller', async () => {
  const call = sentBy((client) => client.getProject({} as { project_id: string }))
  await expect(call).rejects.toThrow('project_id is required by')
})

test('a value that would lead to another operation is an error of the caller', async () => {
  for (const session_id of ['', '.', '..']) {
    const call = sentBy((client) => client.endSession({ session_id }))
    await expect(call).rejects.toThrow('session_id must not be empty, "." or ".."')
  }
})

test('the table of operations names what a body cannot say', () => {
  const project = { name: 'project_id', in: 'query' }
  const body = (schema: object) => ({ content: { 'application/json': { schema } } })
  expect(
    operationsOf({
      paths: {
        '/a': {
          get: { operationId: 'listA', parameters: [project], responses: {} },
          post: {
            operationId: 'createA',
            parameters: [project, { name: 'Idempotency-Key', in: 'header' }],
            requestBody: body({ anyOf: [{ $ref: '#/components/schemas/A' }] }),
            responses: {},
          },
          patch: {
            operationId: 'updateA',
            parameters: [project, { name: 'force', in: 'query' }],
            requestBody: body({ properties: { name: {} } }),
            responses: {},
          },
        },
      },
      components: { schemas: { A: { properties: { project_id: {} } } } },
    }),
  ).toEqual({ listA: 'GET /a', createA: 'POST /a charged', updateA: 'PATCH /a?project_id&force' })
  expect(() => operationsOf({ paths: { '/a': { get: { responses: {} } } } })).toThrow(
    'GET /a has no operationId',
  )
})
