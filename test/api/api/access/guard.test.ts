import { randomUUID } from 'node:crypto'
import Fastify from 'fastify'
import { type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newApiCredentials, storeApiKey } from '../../../../collector/accounts/keys/apiKeys.ts'
import { storeMember } from '../../../../collector/accounts/members/newMember.ts'
import { createAuthenticate, sha256 } from '../../../../collector/api/access/authenticate.ts'
import { guardRoutes } from '../../../../collector/api/access/guard.ts'
import type { Access } from '../../../../collector/api/access/routeAccess.ts'
import { createTokens, type Tokens } from '../../../../collector/api/access/tokens.ts'
import { createWrongKeyLimit } from '../../../../collector/api/access/wrongKeys.ts'
import { ApiError } from '../../../../collector/api/http/errors.ts'
import { openPostgres, type Postgres } from '../../../../collector/platform/postgres/pool.ts'
import { newPostgresDatabase } from '../../../harness/databases.ts'
import { noSandboxTenant } from '../../../harness/noSandboxTenant.ts'
import { storeProject } from '../../../harness/owners.ts'

let postgres: Postgres
let tokens: Tokens
const organizationId = randomUUID()
const projectId = randomUUID()
const keys = { organization: newApiCredentials('live'), project: newApiCredentials('live') }
const members: Record<'owner' | 'member', string> = { owner: randomUUID(), member: randomUUID() }

beforeAll(async () => {
  postgres = openPostgres(await newPostgresDatabase(), () => {})
  tokens = createTokens(postgres)
  await postgres.query(
    `INSERT INTO organizations (organization_id, name, secret_required) VALUES ($1, 'One', false)`,
    [organizationId],
  )
  await storeProject(postgres, projectId, organizationId, 'A')
  for (const [role, memberId] of Object.entries(members)) {
    await storeMember(postgres, {
      memberId,
      organizationId,
      email: `${role}@one.example`,
      role: role as 'owner' | 'member',
      passwordHash: 'none',
    })
  }
  await storeApiKey(postgres, { organizationId, projectId: null }, 'live', 'O', keys.organization)
  await storeApiKey(postgres, { organizationId, projectId }, 'live', 'P', keys.project)
})
afterAll(() => postgres.end())

/** An app with one route of this access; GET /it answers with the principal. */
async function appWith(access: Access | undefined) {
  const app = Fastify()
  app.setErrorHandler((error, _request, reply) =>
    error instanceof ApiError
      ? reply.code(error.status).send({ error: error.error, message: error.message })
      : reply.code(500).send({ error: String(error) }),
  )
  guardRoutes(app, {
    authenticate: createAuthenticate(postgres, tokens, 'http://127.0.0.1:8787'),
    takeTokens: null,
    noteKeyUse: () => {},
    wrongKeys: null,
    sandboxTenant: noSandboxTenant,
  })
  app.get('/it', access ? { config: { access } } : {}, async (request) => request.principal ?? {})
  return app
}

async function ask(access: Access, headers: Record<string, string>) {
  const answer = await (await appWith(access)).inject({ url: '/it', headers })
  return { status: answer.statusCode, ...(answer.json() as Record<string, unknown>) }
}

const data: Access = { to: 'key', projectKeys: 'own project', keyRole: 'read', limit: 'data' }
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

test('a session ends with its time, also while its row is not deleted yet', async () => {
  const sessionUntil = async (expiresIn: string) => {
    const session = randomUUID()
    await postgres.query(
      `INSERT INTO sessions (session_sha256, user_id, expires_at)
       SELECT $1, user_id, now() + $2::interval FROM members WHERE member_id = $3`,
      [sha256(session), expiresIn, members.owner],
    )
    return { cookie: `footfall_session=${session}` }
  }
  for (const access of [{ ...data, members: true }, { to: 'session' }] as const) {
    expect((await ask(access, await sessionUntil('1 hour'))).status).toBe(200)
    expect((await ask(access, await sessionUntil('0'))).status).toBe(401)
  }
})

test('a route that does not say who may ask keeps the app from starting', async () => {
  await expect(async () => (await appWith(undefined)).ready()).rejects.toThrow('GET /it')
})

test('a key of a project is turned away where the route says so', async () => {
  const refused: Access = { ...data, projectKeys: 'refused' }
  expect(await ask(refused, { 'x-api-key': keys.project.apiKey })).toMatchObject({
    status: 403,
    message: expect.stringContaining('not available to a project-scoped API key'),
  })
  expect((await ask(refused, { 'x-api-key': keys.organization.apiKey })).status).toBe(200)
})

test('a key in the Authorization header serves only where the route takes it so', async () => {
  const header = bearer(keys.organization.apiKey)
  expect(await ask(data, header)).toMatchObject({ status: 401, error: 'Invalid API key' })
  expect(await ask({ ...data, bearerKey: true }, header)).toMatchObject({
    status: 200,
    organizationId,
  })
})

describe('a token', () => {
  /** A token as ours, of the owner; `claims` are what is wrong with it. */
  const claimed = (claims: JWTPayload = {}) => ({
    iss: 'footfall',
    sub: members.owner,
    iat: nowSeconds(),
    exp: nowSeconds() + 60,
    ...claims,
  })
  const nowSeconds = () => Math.floor(Date.now() / 1000)
  const signed = (claims: JWTPayload, key: Uint8Array) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(key)

  test('of an owner reads data', async () => {
    expect(await ask(data, bearer(await tokens.sign(members.owner)))).toMatchObject({
      status: 200,
      organizationId,
      projectId: null,
    })
  })

  test('of a plain member does not', async () => {
    expect(await ask(data, bearer(await tokens.sign(members.member)))).toMatchObject({
      status: 403,
    })
  })

  test('that is forged, expired, unsigned, of another issuer or of nobody is refused, and only for that', async () => {
    const { rows } = await postgres.query<{ value: Buffer }>(
      `SELECT value FROM service_secrets WHERE name = 'token_key'`,
    )
    const key = rows[0]!.value
    expect(await ask(data, bearer(await signed(claimed(), key)))).toMatchObject({ status: 200 })
    const refused = {
      forged: await signed(claimed(), Buffer.alloc(32, 7)),
      expired: await signed(claimed({ exp: nowSeconds() - 60 }), key),
      unsigned: new UnsecuredJWT(claimed()).encode(),
      'of another issuer': await signed(claimed({ iss: 'elsewhere' }), key),
      'of nobody': await signed(claimed({ sub: randomUUID() }), key),
      'no token': 'x.y.z',
    }
    for (const [what, token] of Object.entries(refused)) {
      expect(await ask(data, bearer(token)), what).toMatchObject({
        status: 401,
        error: 'Invalid API key',
      })
    }
  })

  test('made before the password was changed is refused', async () => {
    const token = await tokens.sign(members.owner)
    const change = (when: string) =>
      postgres.query(
        `UPDATE users SET password_changed_at = ${when} WHERE email = 'owner@one.example'`,
      )
    await change(`now() + interval '5 seconds'`)
    expect(await ask(data, bearer(token))).toMatchObject({ status: 401, error: 'Invalid API key' })
    await change('now()')
  })

  test('does not serve where only a session does, and neither does a key', async () => {
    for (const headers of [
      bearer(await tokens.sign(members.owner)),
      { 'x-api-key': keys.organization.apiKey, 'x-api-secret': keys.organization.apiSecret },
    ]) {
      expect(await ask({ to: 'session' }, headers)).toMatchObject({
        status: 401,
        error: 'unauthenticated',
      })
    }
  })
})

test('the sixty-first wrong key or secret of a network is 429, and right ones always pass', async () => {
  const limit = createWrongKeyLimit()
  const app = Fastify({ trustProxy: true })
  app.setErrorHandler((error, _request, reply) =>
    error instanceof ApiError
      ? reply
          .code(error.status)
          .headers(error.extra.headers ?? {})
          .send()
      : reply.code(500).send(),
  )
  guardRoutes(app, {
    authenticate: createAuthenticate(postgres, tokens, 'http://127.0.0.1'),
    takeTokens: null,
    noteKeyUse: () => {},
    wrongKeys: limit,
    sandboxTenant: noSandboxTenant,
  })
  app.get('/it', { config: { access: data } }, async () => ({}))
  const from = async (address: string, apiKey: string, apiSecret?: string) =>
    app.inject({
      url: '/it',
      headers: {
        'x-forwarded-for': address,
        'x-api-key': apiKey,
        ...(apiSecret !== undefined && { 'x-api-secret': apiSecret }),
      },
    })
  const statusFrom = async (...asked: Parameters<typeof from>) => (await from(...asked)).statusCode
  const [good, unseen] = [keys.organization.apiKey, keys.project.apiKey]
  expect(await statusFrom('2001:db8::1', good)).toBe(200)
  for (let n = 0; n < 60; n++) {
    expect(await statusFrom(`2001:db8::${n.toString(16)}`, newApiCredentials('live').apiKey)).toBe(
      401,
    )
  }
  const refused = await from('2001:db8::ffff', newApiCredentials('live').apiKey)
  expect(refused.statusCode).toBe(429)
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0)
  expect(await statusFrom('2001:db8::1', unseen)).toBe(200)
  expect(await statusFrom('2001:db8::1', good)).toBe(200)
  expect(await statusFrom('2001:db8:0:1::1', unseen)).toBe(200)

  const { apiKey, apiSecret } = keys.organization
  expect(await statusFrom('192.0.2.1', apiKey, apiSecret)).toBe(200)
  const guesses = []
  for (let n = 0; n < 62; n++) {
    guesses.push(await statusFrom('192.0.2.1', apiKey, newApiCredentials('live').apiSecret))
  }
  expect(guesses).toEqual([...Array(60).fill(401), 429, 429])
  // The customer with the right secret is locked out neither here nor elsewhere.
  expect(await statusFrom('192.0.2.1', apiKey, apiSecret)).toBe(200)
  expect(await statusFrom('192.0.2.2', apiKey, apiSecret)).toBe(200)
})
