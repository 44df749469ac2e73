import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { sha256 } from '../../collector/api/access/authenticate.ts'
import type { Access } from '../../collector/api/access/routeAccess.ts'
import { sessionCookie } from '../../collector/api/access/session.ts'
import { samples } from './samples.ts'
import { stateOf } from './tenantState.ts'
import type { openTenants } from './tenants.ts'

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Whom a share link lets in, on every route of the service. */
export function testShareLinks(
  service: () => Awaited<ReturnType<typeof openTenants>>,
  routes: () => { name: string; access: Exclude<Access, { to: 'anyone' }> }[],
): void {
  /** The routes that it opens. */
  const opened = [
    'GET /api/v1/analytics/overview',
    'GET /api/v1/analytics/timeseries',
    'GET /api/v1/analytics/breakdown',
    'GET /api/v1/analytics/live',
    'GET /api/v1/analytics/shares/:share_id',
  ]
  /** Less when it was last opened. */
  const stateOfOurs = async () => {
    const { postgres, ours } = service()
    const { share_links, ...state } = (await stateOf(postgres, ours)) as {
      share_links: object[]
    }
    return { ...state, share_links: share_links.map((link) => ({ ...link, last_used_at: null })) }
  }

  test('its figures are shown, and every other route refuses it', async () => {
    const { app, ask, ours } = service()
    const before = await stateOfOurs()
    const described = Object.entries(
      (await app.inject('/openapi.json')).json().paths as Record<string, object>,
    ).flatMap(([path, methods]) =>
      Object.keys(methods).map(
        (method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
      ),
    )
    const open = service()
      .app.guardedRoutes.filter(({ config }) => config?.access?.to === 'anyone')
      .map(({ method, url }) => `${method} ${url}`)
    expect(described.filter((name) => !(name in samples) && !open.includes(name))).toEqual([])
    for (const { name, access } of routes()) {
      const answer = await ask(name, ours, bearer(ours.shareSecret))
      const expected = opened.includes(name)
        ? { status: 200 }
        : access.to === 'session'
          ? { status: 401, error: 'unauthenticated' }
          : { status: 403, error: 'forbidden' }
      expect(answer, answer.text).toMatchObject({ name, ...expected })
    }
    for (const { url, method, config } of app.guardedRoutes) {
      if (config?.access?.to === 'anyone' || method !== 'HEAD') continue
      const { statusCode } = await app.inject({
        method: 'HEAD',
        url,
        headers: bearer(ours.shareSecret),
      })
      expect([401, 403], `HEAD ${url}`).toContain(statusCode)
    }
    expect(await stateOfOurs()).toEqual(before)
  })

  test('it shows nothing of another project, pixel or link', async () => {
    const { app, ask, ours, theirs } = service()
    for (const name of opened) {
      const answer = await ask(name, theirs, bearer(ours.shareSecret))
      expect({ name, status: answer.status }).toEqual({ name, status: 404 })
      const [, path] = name.split(' ')
      for (const other of [
        { project_id: ours.projects[1] },
        { pixel_id: ours.pixels[1] },
        { pixel_id: theirs.pixels[0] },
      ]) {
        if (path!.includes(':')) continue
        const { statusCode } = await app.inject({
          url: path!,
          query: { dimensions: 'country', ...other } as Record<string, string>,
          headers: bearer(ours.shareSecret),
        })
        expect({ name, other, statusCode }).not.toMatchObject({ statusCode: 200 })
      }
      if (path!.includes(':')) continue
      const headers = { ...bearer(ours.shareSecret), 'x-project-id': ours.projects[1] }
      expect((await app.inject({ url: path!, headers })).statusCode).not.toBe(200)
    }
  })

  test('one that expired, was revoked, was altered or never was opens nothing', async () => {
    const { ask, postgres, ours } = service()
    const add = async (expires: string) => {
      const secret = `${ours.shareSecret}${randomUUID()}`
      await postgres.query(
        `INSERT INTO share_links (project_id, name, secret_sha256, expires_at)
         VALUES ($1, 'another', $2, now() + $3::interval)`,
        [ours.projects[0], sha256(secret), expires],
      )
      return secret
    }
    const [expired, revoked] = [await add('-1 second'), await add('1 hour')]
    const remove = (secret: string) =>
      postgres.query('DELETE FROM share_links WHERE secret_sha256 = $1', [sha256(secret)])
    await remove(revoked)
    const altered = ours.shareSecret.slice(0, -1) + (ours.shareSecret.endsWith('A') ? 'B' : 'A')
    for (const secret of [
      expired,
      revoked,
      altered,
      'ffs_',
      ours.shareSecret.toUpperCase(),
      ours.shares[0],
    ]) {
      for (const { name } of routes()) {
        expect(await ask(name, ours, bearer(secret)), secret).toMatchObject({ name, status: 401 })
      }
      // Nor as a key, or as a session.
      for (const headers of [
        { 'x-api-key': ours.shareSecret },
        { cookie: `${sessionCookie('http://127.0.0.1')}=${ours.shareSecret}` },
      ]) {
        expect((await ask(opened[0]!, ours, headers)).status).toBe(401)
      }
    }
    await remove(expired)
  })
}
