/**
 * Who may ask what. `routes/` asks every route that the service mounts, as everyone. A route without a line in samples.ts
 * fails a test here.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { segmentPaths } from '../../collector/ingest/segment/segmentPaths.ts'
import { bearer, openedByShareLink } from './callers.ts'
import { roomOf } from './record.ts'
import { samples } from './samples.ts'
import type { Tenant } from './tenant.ts'
import { type Tenants, tenantsOfWorker, withKey } from './tenants.ts'

let service: Tenants
let ours: Tenant
let theirs: Tenant
beforeAll(async () => {
  service = await tenantsOfWorker()
  ours = service.ours
  theirs = service.theirs
})

test('every route is for anyone, or has a sample here', () => {
  expect(Object.keys(samples).filter((name) => !roomOf(name))).toEqual([])
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

describe('a share link', () => {
  const opened = openedByShareLink
    .filter((name) => !name.includes(':'))
    .map((name) => name.slice(4))
  const statusOf = async (
    method: 'GET' | 'HEAD',
    url: string,
    query: Record<string, string> = {},
    headers: Record<string, string> = {},
  ) =>
    (
      await service.app.inject({
        method,
        url,
        query,
        headers: { ...bearer(ours.shareSecret), ...headers },
      })
    ).statusCode

  test('shows nothing of another project or pixel', async () => {
    const shown: string[] = []
    for (const path of opened) {
      for (const other of [
        { project_id: ours.projects[1] },
        { pixel_id: ours.pixels[1] },
        { pixel_id: theirs.pixels[0] },
      ]) {
        const status = await statusOf('GET', path, { dimensions: 'country', ...other })
        if (status === 200) shown.push(`${path} ${JSON.stringify(other)}`)
      }
      if ((await statusOf('GET', path, {}, { 'x-project-id': ours.projects[1] })) === 200)
        shown.push(`${path} by header`)
    }
    expect(shown).toEqual([])
  })

  test('opens no HEAD route', async () => {
    const open: string[] = []
    for (const { url, method, config } of service.app.guardedRoutes) {
      if (config?.access?.to === 'anyone' || method !== 'HEAD') continue
      if (![401, 403].includes(await statusOf('HEAD', url))) open.push(url)
    }
    expect(open).toEqual([])
  })
})

test('the document describes no route that is neither for anyone nor in the record', async () => {
  const { paths } = (await service.app.inject('/openapi.json')).json()
  const described = Object.entries(paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map(
      (method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
    ),
  )
  const open = service.app.guardedRoutes
    .filter(({ config }) => config?.access?.to === 'anyone')
    .map(({ method, url }) => `${method} ${url}`)
  expect(described.filter((name) => !(name in samples) && !open.includes(name))).toEqual([])
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
