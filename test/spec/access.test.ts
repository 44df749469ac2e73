/**
 * Who may ask what: every route that the service mounts, asked by everyone who should not be let in, and by those who
 * should. A route without a line in samples.ts fails the test.
 */

import { randomUUID } from 'node:crypto'
import { SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newApiCredentials } from '../../collector/accounts/keys/apiKeys.ts'
import type { Access } from '../../collector/api/access/routeAccess.ts'
import { sessionCookie } from '../../collector/api/access/session.ts'
import { segmentPaths } from '../../collector/ingest/segment/segmentPaths.ts'
import { samples } from './samples.ts'
import { bearer, testShareLinks } from './shareLinks.ts'
import type { Tenant } from './tenant.ts'
import { mentions, stateOf } from './tenantState.ts'
import { openTenants, withKey } from './tenants.ts'

let service: Awaited<ReturnType<typeof openTenants>>
let ours: Tenant
let theirs: Tenant
beforeAll(async () => {
  service = await openTenants()
  ours = service.ours
  theirs = service.theirs
})
afterAll(() => service.close())

/** Every route that is not for anyone, in the order of `samples`. */
const routes = () =>
  Object.keys(samples).map((name) => {
    const route = service.app.guardedRoutes.find(({ method, url }) => `${method} ${url}` === name)
    if (!route) throw new Error(`there is no ${name} any more`)
    return { name, access: route.config!.access as Exclude<Access, { to: 'anyone' }> }
  })

test('every route is for anyone, or has a sample here', () => {
  const missing = service.app.guardedRoutes
    .filter(({ config, method }) => config?.access?.to !== 'anyone' && method !== 'HEAD')
    .map(({ method, url }) => `${method} ${url}`)
    .filter((name) => !(name in samples))
  expect(missing).toEqual([])
})

test('what is for anyone is listed here', () => {
  const open = service.app.guardedRoutes
    .filter(
      ({ config, url, method }) =>
        config?.access?.to === 'anyone' && method !== 'HEAD' && !url.startsWith('/docs'),
    )
    .map(({ method, url }) => `${[method].flat().join(',')} ${url}`)
  expect(open.sort()).toEqual(
    [
      'GET /',
      'GET /sign-in',
      'GET /invitation/:token',
      'GET /forgot-password',
      'GET /reset-password/:token',
      'GET /email-change/:token',
      'GET /share/:share_id',
      'GET /unsubscribe/:token',
      'GET /explorer',
      'GET /:organization_id(^[0-9a-fA-F-]{36}$)',
      'GET /:organization_id(^[0-9a-fA-F-]{36}$)/*',
      'GET /dashboard/assets/:file',
      'GET /favicon.ico',
      'GET /openapi.json',
      'GET /healthz',
      'GET /readyz',
      // By a ticket in its address, which a download gives for 15 minutes.
      'GET /api/v1/audience_files/:name',
      'GET /metrics',
      // Pages load and send these.
      'POST /e',
      // Viewers of a share link send its secret and its password.
      'POST /api/v1/analytics/shares/unlock',
      'OPTIONS /e',
      'GET /e.gif',
      'OPTIONS /e.gif',
      'GET /p/:file',
      'OPTIONS /p/:file',
      ...segmentPaths.flatMap((path) => [`POST ${path}`, `OPTIONS ${path}`]),
      'POST /auth/v1/login',
      // By a signed token in a mail.
      'POST /unsubscribe/:token',
      'POST /dashboard/session',
      'POST /dashboard/single-sign-on',
      'GET /dashboard/single-sign-on/callback/:organization_id',
      'POST /dashboard/password-reset',
      'GET /dashboard/password-reset/:token',
      'GET /dashboard/email-change/:token',
      'POST /dashboard/password-reset/:token',
      'GET /dashboard/invitation/:token',
      'POST /dashboard/invitation/:token',
    ].sort(),
  )
})

describe('nobody is let in who does not belong', () => {
  const strangers: Record<string, () => Promise<Record<string, string>>> = {
    'without a key': async () => ({}),
    'with a revoked key': async () => withKey(ours.revoked),
    'with a key that never was': async () => withKey(newApiCredentials('live')),
    'with a session that never was': async () => ({
      cookie: `${sessionCookie('http://127.0.0.1')}=${randomUUID()}`,
      'sec-fetch-site': 'same-origin',
    }),
    'with a forged token': async () => bearer(await signed(ours.owner, Buffer.alloc(32, 1), '1h')),
    'with an expired token': async () => bearer(await signed(ours.owner, await signingKey(), -60)),
    'with an unsigned token': async () =>
      bearer(
        new UnsecuredJWT({}).setIssuer('footfall').setSubject(ours.owner).setIssuedAt().encode(),
      ),
  }
  test.each(Object.keys(strangers))(
    '%s every route answers 401 and nothing changes',
    async (who) => {
      const before = await stateOf(service.postgres, ours)
      const headers = await strangers[who]!()
      for (const { name, access } of routes()) {
        const answer = await service.ask(name, ours, headers)
        const error = access.to === 'session' ? 'unauthenticated' : 'Invalid API key'
        expect(answer).toMatchObject({ name, status: 401, error })
      }
      expect(await stateOf(service.postgres, ours)).toEqual(before)
    },
  )

  test.each(['key', 'owner’s session'])(
    'with another organization’s %s nothing of ours is told or changed',
    async (what) => {
      const before = await stateOf(service.postgres, ours)
      const headers = what === 'key' ? withKey(theirs.key) : await service.withSession(theirs.owner)
      for (const { name } of routes()) {
        // What changes the other organization itself is its own affair.
        if (name === 'DELETE /api/v1/organization') continue
        const answer = await service.ask(name, ours, headers)
        expect({ name, mentions: mentions(ours, answer.text) }).toEqual({ name, mentions: [] })
        const { params, query, body } = samples[name]!
        const sent = JSON.stringify([params?.(ours), query?.(ours), body?.(ours)])
        if (mentions(ours, sent).length > 0 && answer.status !== 401)
          expect(answer).toMatchObject({ name, status: 404 })
      }
      expect(await stateOf(service.postgres, ours)).toEqual(before)
    },
  )

  test('a key of another project of ours gets what the specification says, and the project stays as it is', async () => {
    const before = await stateOf(service.postgres, ours)
    for (const { name, access } of routes()) {
      const answer = await service.ask(name, ours, withKey(ours.projectKey))
      const about = JSON.stringify([
        samples[name]!.params?.(ours),
        samples[name]!.query?.(ours),
        samples[name]!.body?.(ours),
      ])
      // Records that are asked for by ids of their own.
      const records = [
        ours.campaigns[0],
        ours.webhooks[0],
        ours.shares[0],
        ours.segments[0],
        ours.funnels[0],
        ours.annotations[0],
        ours.alerts[0],
        ours.archives[0],
        ours.visitAlerts[0],
        ours.lists[0],
        ours.integrations[0],
        ours.exports[0],
        ours.sentRun,
      ]
      const namesRecord =
        records.some((id) => about.includes(id)) && name !== 'POST /api/v1/exports'
      const namesOther =
        namesRecord || [ours.projects[0], ours.pixels[0]].some((id) => about.includes(id))
      if (access.to === 'session')
        expect(answer).toMatchObject({ name, status: 401, error: 'unauthenticated' })
      else if (access.projectKeys === 'refused') {
        expect(answer).toMatchObject({
          name,
          status: 403,
          text: expect.stringContaining('not available to a project-scoped API key'),
        })
      }
      // Routes of pixels answer 401; where a pixel only narrows what is read, it is not found.
      else if (about.includes(ours.pixels[0]) && !/\/pixel/.test(name))
        expect(answer).toMatchObject({ name, status: 404 })
      else if (namesOther && /pixel|project\//.test(name))
        expect(answer).toMatchObject({ name, status: 401, error: 'Invalid API key' })
      else if (namesRecord) expect(answer).toMatchObject({ name, status: 404 })
      else if (namesOther && /audiences(?!\/linkage)/.test(name))
        expect(answer).toMatchObject({ name, status: 403, error: 'access denied' })
      else if (
        namesOther &&
        /billing|requests|lists|campaigns|webhooks|integrations|exports|statistics|linkage/.test(
          name,
        )
      ) {
        expect(answer).toMatchObject({
          name,
          status: 403,
          error: 'project_id does not match API key scope',
        })
      } else if (namesOther)
        expect(answer).toMatchObject({ name, status: 404, error: 'project not found' })
      else expect(answer).toMatchObject({ name, status: 200 })
      if (namesOther || access.to === 'session') continue
      expect({ name, told: answer.text.includes(ours.projects[0]) }).toEqual({ name, told: false })
    }
    expect(await stateOf(service.postgres, ours)).toEqual(before)
  })

  test('a member of no project changes nothing and sees no project', async () => {
    const before = await stateOf(service.postgres, ours)
    const headers = await service.withSession(ours.member)
    for (const { name, access } of routes()) {
      // Signing out is theirs, so are their name and sessions, and turning to the organization that they are in.
      if (/^(DELETE|PUT) \/dashboard\/(sessions?|account)$/.test(name)) continue
      const answer = await service.ask(name, ours, headers)
      if (access.to === 'key' && !access.members)
        expect(answer).toMatchObject({ name, status: 401 })
      else if (!name.startsWith('GET')) expect([400, 401, 403, 404], name).toContain(answer.status)
      expect({
        name,
        told: answer.text.includes(ours.projects[0]) || answer.text.includes(ours.pixels[0]),
      }).toEqual({ name, told: false })
    }
    expect(await stateOf(service.postgres, ours)).toEqual(before)
  })

  describe('with a share link', () => testShareLinks(() => service, routes))

  test('a session serves no page of another site', async () => {
    const before = await stateOf(service.postgres, ours)
    const { cookie } = await service.withSession(ours.owner)
    for (const origin of ['https://elsewhere.example', 'null']) {
      for (const { name, access } of routes()) {
        if (name.startsWith('GET') || (access.to === 'key' && !access.members)) continue
        expect(await service.ask(name, ours, { cookie: cookie!, origin })).toMatchObject({
          name,
          status: 403,
          error: 'cross_origin',
        })
      }
    }
    expect(await stateOf(service.postgres, ours)).toEqual(before)
  })
})

test('the organization’s own key and its owner’s session are let in everywhere they belong', async () => {
  const session = await service.withSession(ours.owner)
  for (const { name, access } of routes()) {
    // These also ask for the password, or ask an identity provider.
    if (name.startsWith('DELETE') || /password|email-change|two-factor|PUT .*sign-on/.test(name))
      continue
    const headers = access.to === 'session' ? session : withKey(ours.key)
    const answer = await service.ask(name, ours, headers)
    expect([200, 201, 202], `${name} ${answer.text}`).toContain(answer.status)
  }
})

test('what a member is shown of who visitors are is in the audit log, and what events say is not', async () => {
  const session = await service.withSession(ours.owner)
  const looks = async () => {
    const { rows } = await service.postgres.query<{
      action: string
      actor: { id: string }
      object_id: string
      details: object
    }>(
      `SELECT action, actor, object_id, details FROM audit_log
       WHERE organization_id = $1 AND action LIKE 'identity.%' ORDER BY entry_id`,
      [ours.organizationId],
    )
    return rows
  }
  const before = (await looks()).length
  const ask = (tier: string, headers: Record<string, string>) =>
    service.ask(`GET /api/v3/events/${tier}`, ours, headers)
  expect((await ask('web_event', session)).status).toBe(200)
  expect((await ask('resolution_hem', withKey(ours.key))).status).toBe(200)
  expect(await looks()).toHaveLength(before)
  expect((await ask('resolution_hem', session)).status).toBe(200)
  const csv = { ...session, accept: 'text/csv' }
  expect((await ask('resolution_hem', csv)).status).toBe(200)
  expect((await ask('web_event', csv)).status).toBe(200)
  expect((await looks()).slice(before)).toEqual([
    {
      action: 'identity.read',
      actor: expect.objectContaining({ kind: 'member', id: ours.owner }),
      object_id: ours.projects[0],
      details: {
        meter: 'resolution_hem',
        records: 1,
        request_id: expect.any(String),
        route: 'GET /api/v3/events/resolution_hem',
      },
    },
    expect.objectContaining({ action: 'identity.download', object_id: ours.projects[0] }),
  ])
})

test('whom an export failed to send is told to admins of its project alone, and each look is in the audit log', async () => {
  const { postgres, ask, withSession } = service
  const { sentRun, member, projects } = ours
  await postgres.query(
    `INSERT INTO export_outcomes (run_id, key, record, outcome, reason, class, is_charged)
     VALUES ($1, 1, $2, 'failed', 'not an address', 'never', true)`,
    [sentRun, 'a'.repeat(64)],
  )
  const session = await withSession(member)
  const failures = () => ask('GET /api/v1/exports/:export_id/runs/:run_id/failures', ours, session)
  const looks = async () => {
    const { rows } = await postgres.query<{ records: number }>(
      `SELECT (details ->> 'records')::int AS records FROM audit_log
       WHERE action = 'identity.read' AND actor ->> 'id' = $1 AND details ->> 'route' LIKE '%/failures'`,
      [member],
    )
    return rows
  }
  expect(await failures()).toMatchObject({ status: 404 })
  await postgres.query(
    'INSERT INTO project_members (project_id, member_id, role) VALUES ($1, $2, $3)',
    [projects[0], member, 'member'],
  )
  const refused = await failures()
  expect(refused).toMatchObject({ status: 403, error: 'forbidden' })
  expect(refused.text).not.toContain('a'.repeat(8))
  expect(await looks()).toEqual([])
  await postgres.query("UPDATE project_members SET role = 'admin' WHERE member_id = $1", [member])
  const told = await failures()
  expect(told.text).toContain('a'.repeat(64))
  expect(await looks()).toEqual([{ records: 1 }])
  await postgres.query('DELETE FROM project_members WHERE member_id = $1', [member])
})

test('a link from anywhere makes no session pay', async () => {
  const { cookie } = await service.withSession(ours.owner)
  for (const { name, access } of routes()) {
    const route = service.app.guardedRoutes.find(({ method, url }) => `${method} ${url}` === name)!
    if (access.to !== 'key' || !access.members || !route.config!.charged) continue
    expect(
      await service.ask(name, ours, { cookie: cookie!, 'sec-fetch-site': 'cross-site' }),
    ).toMatchObject({
      name,
      status: 403,
      error: 'cross_origin',
    })
  }
})

async function signingKey(): Promise<Buffer> {
  await service.tokens.sign(randomUUID())
  const { rows } = await service.postgres.query<{ value: Buffer }>(
    'SELECT value FROM service_secrets',
  )
  return rows[0]!.value
}

const signed = (subject: string, key: Buffer, expires: string | number) =>
  new SignJWT()
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('footfall')
    .setSubject(subject)
    .setIssuedAt()
    .setExpirationTime(
      typeof expires === 'string' ? expires : Math.floor(Date.now() / 1000) + expires,
    )
    .sign(key)
