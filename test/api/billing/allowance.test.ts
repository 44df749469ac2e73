import { randomUUID } from 'node:crypto'
import Fastify, { type FastifyRequest } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { guardRoutes } from '../../../collector/api/access/guard.ts'
import { answerError } from '../../../collector/api/http/answerErrors.ts'
import { ClientDisconnected, conflict } from '../../../collector/api/http/errors.ts'
import { createAllowance, deletePastAnswers } from '../../../collector/billing/allowance.ts'
import { inTransaction } from '../../../collector/platform/postgres/transaction.ts'
import { noSandboxTenant } from '../../harness/noSandboxTenant.ts'
import { type Accounts, dayMs, openAccounts } from './harness.ts'

let accounts: Accounts
beforeAll(async () => {
  accounts = await openAccounts()
})
afterAll(() => accounts?.close())

/** An application with one route that takes a free answer, and an allowance of `perDay`. */
async function openRoute(perDay: number) {
  const { postgres, clock } = accounts
  const { organizationId } = await accounts.newOrganization()
  const allowance = createAllowance({ postgres, perDay, now: () => clock.now })
  let principal: FastifyRequest['principal'] = {
    organizationId,
    projectId: null,
    mode: 'live',
    caller: { kind: 'key', keyId: randomUUID(), role: 'owner' },
  }
  const app = Fastify()
  app.decorateRequest('charge')
  app.decorateRequest('freeAnswer')
  app.decorateRequest('errorCode', null)
  app.setErrorHandler(answerError)
  app.addHook('onRequest', async (request) => {
    request.principal = principal
  })
  let meanwhile: (() => Promise<unknown>) | null = null
  app.post<{ Params: { id: string }; Body: { fails?: boolean; disconnects?: boolean } }>(
    '/questions/:id',
    async (request) => {
      await allowance.takeForRequest(request)
      const work = meanwhile
      meanwhile = null
      await work?.()
      if (request.body.fails) throw conflict('invalid_state', 'failed')
      if (request.body.disconnects) throw new ClientDisconnected('the client disconnected')
      return { count: 7 }
    },
  )
  return {
    organizationId,
    allowance,
    app,
    ask: (id: string, body: object = {}) =>
      app.inject({ method: 'POST', url: `/questions/${id}`, payload: body }),
    /** Does some work after the next request has taken its answer. */
    during: (work: () => Promise<unknown>) => {
      meanwhile = work
    },
    become: (other: Partial<FastifyRequest['principal']>) => {
      principal = { ...principal, ...other }
    },
    left: async () => (await allowance.read(organizationId)).left,
  }
}

test('each question takes one free answer of the day, and a repeated one takes none', async () => {
  const { ask, left } = await openRoute(3)
  expect((await ask('a')).statusCode).toBe(200)
  expect((await ask('a')).statusCode).toBe(200)
  expect(await left()).toBe(2)
  await ask('a', { other: 'body' })
  await ask('b')
  expect(await left()).toBe(0)
  expect((await ask('b')).statusCode).toBe(200)
  expect((await ask('c')).statusCode).toBe(429)
})

test('the order of parameters and members makes no other question', async () => {
  const { ask, left } = await openRoute(9)
  await ask('a?b=1&c=2', { d: { e: 1, f: 2 }, g: [1, 2] })
  await ask('a?c=2&b=1', { g: [1, 2], d: { f: 2, e: 1 } })
  expect(await left()).toBe(8)
  await ask('a?b=1&c=2', { d: { e: 1, f: 2 }, g: [2, 1] })
  expect(await left()).toBe(7)
})

test('HEAD takes no free answer and runs nothing', async () => {
  const { allowance, organizationId, left } = await openRoute(1)
  const app = Fastify()
  guardRoutes(app, {
    authenticate: async () => ({
      organizationId,
      projectId: null,
      mode: 'live',
      caller: { kind: 'key', keyId: randomUUID(), role: 'owner' },
    }),
    takeTokens: null,
    wrongKeys: null,
    noteKeyUse: () => {},
    sandboxTenant: noSandboxTenant,
  })
  const access = {
    to: 'key',
    projectKeys: 'own project',
    keyRole: 'read',
    limit: 'events',
  } as const
  app.get('/count', { config: { access, freeAnswers: true } }, async (request) => {
    await allowance.takeForRequest(request)
    return { count: 7 }
  })
  expect((await app.inject({ method: 'HEAD', url: '/count' })).statusCode).toBe(200)
  expect(await left()).toBe(1)
  expect((await app.inject({ method: 'GET', url: '/count' })).json()).toEqual({ count: 7 })
  expect(await left()).toBe(0)
  await app.close()
})

test('a used-up allowance is 429 with the time at which it resets', async () => {
  const { ask } = await openRoute(1)
  await ask('a')
  const refused = await ask('b')
  expect(refused.statusCode).toBe(429)
  expect(refused.headers['retry-after']).toBe(String(12 * 3_600))
  expect(refused.json()).toMatchObject({
    error: 'platform_cap_exceeded',
    kind: 'limit_reached',
    meter: 'free_answers',
    resets_at: '2026-01-16T00:00:00.000Z',
  })
  accounts.clock.now += dayMs / 2
  expect((await ask('b')).statusCode).toBe(200)
  accounts.clock.now -= dayMs / 2
})

test('a failed request gives its answer back, but not that of an earlier request', async () => {
  const { ask, left } = await openRoute(1)
  expect((await ask('a', { fails: true })).statusCode).toBe(409)
  expect(await left()).toBe(1)
  await ask('b')
  expect((await ask('b', {})).statusCode).toBe(200)
  expect(await left()).toBe(0)
})

test('a client that disconnects gets its answer back', async () => {
  const { app, during, left } = await openRoute(1)
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const controller = new AbortController()
  during(async () => {
    expect(await left()).toBe(0)
    controller.abort()
  })
  const asked = fetch(`${url}/questions/a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ disconnects: true }),
    signal: controller.signal,
  })
  await expect(asked).rejects.toThrow()
  await expect.poll(left).toBe(1)
})

test('a failed request gives nothing back if the same question was asked meanwhile', async () => {
  const { ask, during, left } = await openRoute(1)
  during(async () => {
    expect((await ask('a', { fails: true })).statusCode).toBe(409)
  })
  expect((await ask('a', { fails: true })).statusCode).toBe(409)
  expect(await left()).toBe(0)
})

test('of two concurrent requests for the last answer, one receives it', async () => {
  const { ask, left } = await openRoute(1)
  const answers = await Promise.all(['a', 'b', 'c', 'd'].map((id) => ask(id)))
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 429, 429, 429])
  expect(await left()).toBe(0)
})

test('test keys and share links take no free answer', async () => {
  const { ask, become, left } = await openRoute(1)
  become({ mode: 'test' })
  await ask('a')
  become({
    mode: 'live',
    caller: { kind: 'share', shareId: randomUUID(), pixelId: null, filter: null, hasGoals: false },
  })
  await ask('b')
  expect(await left()).toBe(1)
})

test('work is never refused: its numbers are shown after midnight UTC if none is left', async () => {
  const { allowance, organizationId, left } = await openRoute(1)
  const { postgres, clock } = accounts
  const work = (name: string) =>
    inTransaction(postgres, (client) =>
      allowance.takeForWork(client, organizationId, ['build', name], clock.now),
    )
  expect(await work('a')).toEqual(new Date(clock.now))
  expect(await work('a')).toEqual(new Date(clock.now))
  expect(await work('b')).toEqual(new Date('2026-01-16T00:00:00Z'))
  expect(await left()).toBe(0)
})

test('an operator sets the allowance of one organization', async () => {
  const { ask, allowance, organizationId } = await openRoute(1)
  await accounts.postgres.query(
    'INSERT INTO billing_accounts (organization_id, free_answers_per_day) VALUES ($1, 2)',
    [organizationId],
  )
  await ask('a')
  expect(await allowance.read(organizationId)).toMatchObject({ per_day: 2, left: 1 })
})

test('questions of past days are deleted', async () => {
  const { ask, left } = await openRoute(2)
  await ask('a')
  await deletePastAnswers(accounts.postgres, accounts.clock.now)
  expect(await left()).toBe(1)
  await deletePastAnswers(accounts.postgres, accounts.clock.now + dayMs)
  expect(await left()).toBe(2)
})
