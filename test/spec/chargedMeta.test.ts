/** Additions to answers and requests: `meta.charged`, bodies that may be absent, trimmed addresses. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { samples } from './samples.ts'
import { openTenants, withKey } from './tenants.ts'

let service: Awaited<ReturnType<typeof openTenants>>
beforeAll(async () => {
  service = await openTenants()
})
afterAll(() => service.close())

const send = (
  method: 'GET' | 'POST',
  url: string,
  more: { payload?: object; headers?: object } = {},
) =>
  service.app.inject({
    method,
    url,
    ...(more.payload && { payload: more.payload }),
    headers: { ...withKey(service.ours.key), ...more.headers },
  })

test('`meta.charged` of a charged answer is what X-Footfall-Charged says', {
  timeout: 120_000,
}, async () => {
  const seen: string[] = []
  for (const [name, { params, query, body }] of Object.entries(samples)) {
    const [method, path] = name.split(' ') as ['GET' | 'POST', string]
    if (!['GET', 'POST'].includes(method)) continue
    const values = params?.(service.ours) ?? {}
    const answer = await service.app.inject({
      method,
      query: query?.(service.ours) ?? {},
      headers: withKey(service.ours.key),
      url: path.replace(/:(\w+)/g, (_, parameter) => values[parameter]!),
      ...(body && { payload: body(service.ours) }),
    })
    const charged = answer.headers['x-footfall-charged']
    if (answer.statusCode !== 200 || charged === undefined) continue
    seen.push(name)
    expect({ name, charged: answer.json().meta?.charged }).toEqual({
      name,
      charged: Number(charged),
    })
  }
  expect(seen).toEqual(
    expect.arrayContaining([
      'GET /api/v1/lookup',
      'POST /api/v1/lookup/batch',
      'POST /api/v1/contact/query',
      'GET /api/v3/events/resolution_hem/visitors',
      'POST /api/v1/analytics/visitors',
    ]),
  )
})

test.each([{}, { 'content-type': 'application/json' }])(
  'an audience is cloned without a body: %o',
  async (headers) => {
    const { audiences, projects } = service.ours
    const url = `/api/v1/audiences/${audiences[0]}/clone?project_id=${projects[0]}`
    expect((await send('POST', url, { headers })).statusCode).toBe(201)
  },
)

test('an address is trimmed where a member is invited', async () => {
  const email = 'blanks@trim.example'
  const invited = await send('POST', '/api/v1/organization/user/create', {
    payload: { email: ` ${email}\n`, role: 'member' },
  })
  expect({ status: invited.statusCode, text: invited.body }).toMatchObject({ status: 201 })
  expect(invited.json().member.email).toBe(email)
})
