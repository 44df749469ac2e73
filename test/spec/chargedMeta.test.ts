/** Additions to requests: bodies that may be absent, trimmed addresses. `routes/` compares `meta.charged`. */
import { beforeAll, expect, test } from 'vitest'
import { type Tenants, tenantsOfWorker, withKey } from './tenants.ts'

let service: Tenants
beforeAll(async () => {
  service = await tenantsOfWorker()
})

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
