/** The catalogue of error codes. `routes/` compares every error answer with it. */
import { beforeAll, expect, test } from 'vitest'
import { allErrorCodes } from '../../collector/api/http/errorCodes.ts'
import { type Tenants, tenantsOfWorker, withKey } from './tenants.ts'

let service: Tenants
beforeAll(async () => {
  service = await tenantsOfWorker()
})

test('codes are unique and written in snake_case', () => {
  expect(allErrorCodes.filter((code) => !/^[a-z]+(?:_[a-z]+)*$/.test(code))).toEqual([])
  expect(new Set(allErrorCodes).size).toBe(allErrorCodes.length)
})

test('the document lists the catalogue as the values of `code`', async () => {
  const { components } = (await service.app.inject('/openapi.json')).json()
  expect(components.schemas.Error.properties.code.enum).toEqual(allErrorCodes)
  expect(components.schemas.Error.required).toContain('code')
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
