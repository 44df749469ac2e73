/** Every error answer has a `code` of the catalogue, which the document lists. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allErrorCodes, errorCodes } from '../../collector/api/http/errorCodes.ts'
import { samples } from './samples.ts'
import { openTenants, withKey } from './tenants.ts'

let service: Awaited<ReturnType<typeof openTenants>>
beforeAll(async () => {
  service = await openTenants()
})
afterAll(() => service.close())

test('codes are unique and written in snake_case', () => {
  expect(allErrorCodes.filter((code) => !/^[a-z]+(?:_[a-z]+)*$/.test(code))).toEqual([])
  expect(new Set(allErrorCodes).size).toBe(allErrorCodes.length)
})

test('the document lists the catalogue as the values of `code`', async () => {
  const { components } = (await service.app.inject('/openapi.json')).json()
  expect(components.schemas.Error.properties.code.enum).toEqual(allErrorCodes)
  expect(components.schemas.Error.required).toContain('code')
})

test('every error that the sample requests provoke has a code of its `error`', {
  timeout: 240_000,
}, async () => {
  const seen = new Set<string>()
  for (const name of Object.keys(samples)) {
    for (const key of [service.ours.projectKey, service.theirs.key, null]) {
      const { status, text } = await service.ask(name, service.ours, key ? withKey(key) : {})
      if (status < 400) continue
      const { error, code } = JSON.parse(text) as { error: keyof typeof errorCodes; code: string }
      seen.add(code)
      expect({ name, status, text, codes: errorCodes[error] }).toMatchObject({
        codes: expect.arrayContaining([code]),
      })
    }
  }
  expect([...seen]).toEqual(
    expect.arrayContaining(['invalid_api_key', 'forbidden', 'project_not_found']),
  )
})

test('an edit of another version and a request to a disabled webhook conflict with different codes', async () => {
  const send = async (method: 'PATCH' | 'POST', path: string, payload: object) =>
    service.app.inject({
      method,
      payload,
      headers: withKey(service.ours.key),
      url: `/api/v1/webhooks/${service.ours.webhooks[0]}${path}`,
    })
  const stale = await send('PATCH', '', { version: 999, enabled: false })
  expect(stale.json()).toMatchObject({ error: 'conflict', code: 'version_conflict' })
  expect((await send('PATCH', '', { enabled: false })).statusCode).toBe(200)
  const disabled = await send('POST', '/test', {})
  expect(disabled.json()).toMatchObject({ error: 'conflict', code: 'invalid_state' })
})
