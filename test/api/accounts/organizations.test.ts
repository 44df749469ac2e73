/** One person, several organizations. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deleteExpired } from '../../../collector/accounts/accountJobs.ts'
import { waitFor } from '../../harness/service.ts'
import { type Accounts, type Caller, type Json, nobody, openAccounts, password } from './harness.ts'

let it: Accounts
beforeAll(async () => {
  it = await openAccounts()
})
afterAll(() => it.close())

/** Invites an address into an organization; the link's token. */
async function invite(by: Caller, email: string, role = 'admin') {
  const { status, body } = await it.ask(by, 'POST /api/v1/organization/user/create', {
    email,
    role,
  })
  return { status, body, token: body.invitation_url?.split('/').at(-1) as string }
}

const inOrganization = (session: Caller, organization: string): Caller => ({
  ...session,
  'x-organization-id': organization,
})

/** A member of the demo organization who has joined a second one too, with the password they have. */
async function joinBoth() {
  const someone = await it.join('admin')
  const stranger = await it.openStranger()
  const { token } = await invite(stranger.key, someone.email, 'member')
  const joined = await it.ask(nobody, `POST /dashboard/invitation/${token}`, {
    name: 'Else',
    password,
  })
  return { ...someone, stranger, joined, session: it.sessionOf(joined) }
}

describe('an invitation of somebody who is a member elsewhere', () => {
  test('answers and asks as one of anybody', async () => {
    const someone = await it.join('admin')
    const stranger = await it.openStranger()
    const [known, unknown] = [someone.email, `${randomUUID()}@example.com`]
    const seen = []
    for (const email of [known, unknown]) {
      const { status, body, token } = await invite(stranger.key, email)
      const asked = await it.ask(nobody, `GET /dashboard/invitation/${token}`)
      const list = await it.done(stranger.key, 'GET /api/v1/organization/user/list')
      const text = JSON.stringify([
        status,
        { ...body, invitation_url: '' },
        asked.status,
        asked.body,
        list.members.at(-1),
      ])
      seen.push(
        text
          .replaceAll(email, 'EMAIL')
          .replaceAll(body.member.member_id, 'ID')
          .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'AT'),
      )
    }
    expect(seen[0]).toBe(seen[1])
    expect((await invite(stranger.key, known)).status).toBe(409)
  })

  test('is accepted with the password they have, and with no other', async () => {
    const someone = await it.join('admin')
    const stranger = await it.openStranger()
    const { token } = await invite(stranger.key, someone.email)
    const accept = `POST /dashboard/invitation/${token}`
    // The holder of the link, including the member who invited them, does not become them.
    const stolen = await it.ask(nobody, accept, {
      name: 'Thief',
      password: 'the password of a thief',
    })
    expect([stolen.status, stolen.body.error]).toEqual([401, 'invalid_credentials'])
    expect(stolen.headers.getSetCookie()).toEqual([])
    const missing = await it.ask(nobody, accept, { name: 'Nobody' })
    expect(missing).toMatchObject({ status: 400, body: { parameter: 'password' } })
    const joined = await it.ask(nobody, accept, { name: 'Else', password })
    expect(joined).toMatchObject({
      status: 200,
      body: {
        member: { email: someone.email, role: 'admin' },
        organization: { name: 'Strangers' },
      },
    })
    expect(joined.body.organizations).toEqual([
      { organization_id: it.demo.organization_id, name: 'Demo organization' },
      { organization_id: stranger.organization, name: 'Strangers' },
    ])
    expect(
      (await it.ask(nobody, 'POST /dashboard/session', { email: someone.email, password })).status,
    ).toBe(200)
  })

  test('is accepted without one by whoever is signed in as them, from the dashboard’s own pages alone', async () => {
    const someone = await it.join('admin')
    const other = await it.join('admin')
    const { token } = await invite((await it.openStranger()).key, someone.email)
    const accept = `POST /dashboard/invitation/${token}`
    expect((await it.ask(other.session, accept, {})).status).toBe(400)
    const elsewhere = { ...someone.session, origin: 'https://evil.example' }
    expect((await it.ask(elsewhere, accept, {})).status).toBe(403)
    const joined = await it.ask(someone.session, accept, {})
    expect(joined).toMatchObject({ status: 200, body: { member: { name: 'Somebody' } } })
    expect(joined.body.organizations).toHaveLength(2)
  })
})

describe('a member of two organizations', () => {
  test('has in each what they may there, and is asked for by X-Organization-Id', async () => {
    const { session, stranger, email } = await joinBoth()
    const [here, there] = [it.demo.organization_id, stranger.organization]
    const roleIn = async (organization: string) =>
      (await it.done(inOrganization(session, organization), 'GET /api/v1/whoami')).caller.role
    expect([await roleIn(here), await roleIn(there)]).toEqual(['admin', 'member'])
    const create = { name: 'New' }
    const asHere = inOrganization(session, here)
    const asThere = inOrganization(session, there)
    expect((await it.ask(asHere, 'POST /api/v1/project/create', create)).status).toBe(201)
    expect((await it.ask(asThere, 'POST /api/v1/project/create', create)).status).toBe(403)
    const { members } = await it.done(asThere, 'GET /api/v1/organization/user/list')
    expect(members.map((member: Json) => member.email)).toContain(email)
    expect(JSON.stringify(members)).not.toContain(it.demo.admin_email)
    for (const organization of [randomUUID(), 'nonsense']) {
      expect(
        (await it.ask(inOrganization(session, organization), 'GET /api/v1/whoami')).status,
      ).toBe(401)
    }
  })

  test('signs in to the one last used', async () => {
    const { session, stranger, email, joined } = await joinBoth()
    const signedIn = async () =>
      (await it.ask(nobody, 'POST /dashboard/session', { email, password })).body.organization
    expect(joined.body.organization.organization_id).toBe(stranger.organization)
    expect((await signedIn()).organization_id).toBe(stranger.organization)
    const turnTo = (organization_id: string) =>
      it.ask(session, 'PUT /dashboard/session', { organization_id })
    expect((await turnTo(it.demo.organization_id)).body.organization.organization_id).toBe(
      it.demo.organization_id,
    )
    expect((await signedIn()).organization_id).toBe(it.demo.organization_id)
    const foreign = await it.openStranger()
    expect(await turnTo(foreign.organization)).toMatchObject({
      status: 404,
      body: { error: 'organization not found' },
    })
  })

  test('removed from one, stays in the other; from both, is forgotten', async () => {
    const { session, stranger, email, memberId, joined } = await joinBoth()
    await it.done(stranger.key, 'DELETE /api/v1/organization/user/delete', {
      member_id: joined.body.member.member_id,
    })
    const there = inOrganization(session, stranger.organization)
    await waitFor('the end', async () => (await it.ask(there, 'GET /api/v1/whoami')).status === 401)
    expect((await it.done(session, 'GET /dashboard/session')).organizations).toHaveLength(1)
    await it.done(it.owner, 'DELETE /api/v1/organization/user/delete', { member_id: memberId })
    const { rows } = await it.postgres.query('SELECT FROM users WHERE email = $1', [email])
    expect(rows).toEqual([])
    expect((await it.ask(nobody, 'POST /dashboard/session', { email, password })).status).toBe(401)
  })
})

test('what has expired is deleted: buckets that are full again, and sessions', async () => {
  const someone = await it.join('member')
  await it.postgres.query(
    `INSERT INTO rate_limits SELECT 'old:' || n, extract(epoch FROM now()) - 1 FROM generate_series(1, 1000) n`,
  )
  await it.postgres.query(`INSERT INTO rate_limits VALUES ('new', extract(epoch FROM now()) + 60)`)
  await it.postgres.query(
    `UPDATE sessions SET expires_at = now() WHERE user_id = (SELECT user_id FROM members WHERE member_id = $1)`,
    [someone.memberId],
  )
  await deleteExpired(it.postgres)
  const { rows } = await it.postgres.query(
    `SELECT bucket FROM rate_limits WHERE bucket = 'new' OR bucket LIKE 'old:%'`,
  )
  expect(rows).toEqual([{ bucket: 'new' }])
  const { rows: sessions } = await it.postgres.query(
    'SELECT FROM sessions WHERE expires_at <= now()',
  )
  expect(sessions).toEqual([])
})
