import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { waitFor } from '../../harness/service.ts'
import { quickest } from '../../harness/timing.ts'
import { type Accounts, type Caller, type Json, nobody, openAccounts, password } from './harness.ts'

let it: Accounts
beforeAll(async () => {
  // A key must end in every process, and be in no log.
  it = await openAccounts({ apps: 2, env: { LOG_LEVEL: 'trace' } })
})
afterAll(() => it.close())

const uuid = expect.stringMatching(/^[0-9a-f-]{36}$/)
const keysSeen = async (caller = it.owner, query = '') =>
  (await it.done(caller, `GET /dashboard/keys${query}`)).keys as Json[]

describe('API keys', () => {
  test.each(['live', 'test'] as const)(
    '%s: made with a secret that is shown once',
    async (mode) => {
      const { status, body, headers } = await it.ask(it.owner, 'POST /dashboard/keys', {
        name: 'Reports',
        mode,
        project_id: it.demo.project_id,
      })
      expect(status).toBe(201)
      expect(headers.get('cache-control')).toBe('private, no-store')
      expect(body).toEqual({
        key: {
          key_id: uuid,
          name: 'Reports',
          key_prefix: body.api_key.slice(0, 14),
          scope: 'project',
          project_id: it.demo.project_id,
          mode,
          created_at: expect.any(String),
          created_by: it.demo.admin_email,
          last_used_at: null,
          role: 'admin',
          created_by_member_id: uuid,
          expires_at: null,
        },
        api_key: expect.stringMatching(new RegExp(`^ff_${mode}_[0-9a-f]{32}$`)),
        api_secret: expect.stringMatching(/^[0-9a-f]{64}$/),
      })
      expect((await keysSeen()).find(({ key_id }) => key_id === body.key.key_id)).toEqual(body.key)
      const key = { 'x-api-key': body.api_key, 'x-api-secret': body.api_secret }
      const { caller } = await it.done(key, 'GET /api/v1/whoami')
      expect(caller).toEqual({ kind: 'key', key_id: body.key.key_id, scope: 'project', mode })
    },
  )

  test('say when they were last used, at most once a minute', async () => {
    const key = await it.makeKey()
    const { key_id } = (await it.done(key, 'GET /api/v1/whoami')).caller
    const lastUse = async () =>
      (await keysSeen()).find((each) => each.key_id === key_id).last_used_at
    const first = await waitFor('the note', lastUse)
    expect(Date.now() - Date.parse(first)).toBeLessThan(10_000)
    for (let n = 0; n < 20; n++) await it.done(key, 'GET /api/v1/whoami')
    expect(await lastUse()).toBe(first)
  })

  test('with an end serve until then, in every process, and stay listed', async () => {
    const make = (expires_at: string) =>
      it.ask(it.owner, 'POST /dashboard/keys', {
        name: 'Trial',
        mode: 'live',
        project_id: null,
        expires_at,
      })
    const over = await make(new Date(Date.now() - 1_000).toISOString())
    expect([over.status, over.body.parameter]).toEqual([400, 'expires_at'])
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString()
    const { key, api_key, api_secret } = (await make(expiresAt)).body
    expect(key.expires_at).toBe(expiresAt)
    const caller = { 'x-api-key': api_key, 'x-api-secret': api_secret }
    expect((await it.ask(caller, 'GET /api/v1/whoami')).status).toBe(200)
    await it.postgres.query(
      "UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE key_id = $1",
      [key.key_id],
    )
    const refused = await waitFor('the end', async () => {
      const answers = await Promise.all(
        Array.from({ length: 8 }, () =>
          it.ask({ ...caller, connection: 'close' }, 'GET /api/v1/whoami'),
        ),
      )
      return answers.every(({ status }) => status === 401) ? answers[0]! : null
    })
    expect(refused.body).toMatchObject({ error: 'Invalid API key' })
    expect(refused.body.message).toContain('expired')
    expect((await keysSeen()).some(({ key_id }) => key_id === key.key_id)).toBe(true)
  })

  test('revoked, serve in no process any more within a second, and are listed no more', async () => {
    let key: Caller
    let key_id: string
    const make = async () => {
      key = await it.makeKey()
      key_id = (await it.done(key, 'GET /api/v1/whoami')).caller.key_id
    }
    // Each request has a connection of its own, so that they are spread over the workers.
    const isRefused = async () =>
      (
        await Promise.all(
          Array.from({ length: 8 }, () =>
            it.ask({ ...key, connection: 'close' }, 'GET /api/v1/whoami'),
          ),
        )
      ).every(({ status, body }) => status === 401 && body.error === 'Invalid API key')
    const revoke = async () => {
      expect((await it.ask(it.owner, `DELETE /dashboard/keys/${key_id}`)).status).toBe(204)
      await waitFor('the refusal', isRefused)
    }
    await make()
    expect(await quickest(1_500, revoke, make)).toBeLessThan(1_500)
    expect((await keysSeen()).map((each) => each.key_id)).not.toContain(key_id!)
    const again = await it.ask(it.owner, `DELETE /dashboard/keys/${key_id!}`)
    expect([again.status, again.body.error]).toEqual([404, 'key not found'])
  })

  test('of a project are its admins’ to make and revoke, and its members’ to see', async () => {
    const here = await it.makeProject('Here')
    const admin = await it.join('member', [{ project_id: here, role: 'admin' }])
    const member = await it.join('member', [{ project_id: here, role: 'member' }])
    const outsider = await it.join('member')
    const make = { name: 'k', mode: 'live', project_id: here }
    const { key } = await it.done(admin.session, 'POST /dashboard/keys', make)
    expect(key).toMatchObject({ scope: 'project', project_id: here, created_by: admin.email })

    const refusals = [
      await it.ask(member.session, 'POST /dashboard/keys', make),
      await it.ask(outsider.session, 'POST /dashboard/keys', make),
      await it.ask(admin.session, 'POST /dashboard/keys', { ...make, project_id: null }),
      await it.ask(admin.session, 'POST /dashboard/keys', {
        ...make,
        project_id: it.demo.project_id,
      }),
      await it.ask(member.session, `DELETE /dashboard/keys/${key.key_id}`),
      await it.ask(outsider.session, `DELETE /dashboard/keys/${key.key_id}`),
    ]
    expect(refusals.map(({ body }) => body.error)).toEqual([
      'forbidden',
      'project not found',
      'forbidden',
      'project not found',
      'forbidden',
      'key not found',
    ])
    const organizationKey = (await keysSeen()).find(({ scope }) => scope === 'organization')
    const answer = await it.ask(admin.session, `DELETE /dashboard/keys/${organizationKey.key_id}`)
    expect([answer.status, answer.body.error]).toEqual([404, 'key not found'])

    for (const { session } of [admin, member]) expect(await keysSeen(session)).toEqual([key])
    expect(await keysSeen(outsider.session)).toEqual([])
    expect(await keysSeen(it.owner, `?project_id=${here}`)).toEqual([key])
    expect((await keysSeen()).length).toBeGreaterThan(1)
    expect((await it.ask(admin.session, `DELETE /dashboard/keys/${key.key_id}`)).status).toBe(204)
  })

  test('of owners are theirs alone to revoke, those of admins any admin’s', async () => {
    const here = await it.makeProject('Of owners')
    const [admin, other] = [await it.join('admin'), await it.join('admin')]
    const projectAdmin = await it.join('member', [{ project_id: here, role: 'admin' }])
    const make = async (session: Caller, more: object = {}) =>
      (await it.done(session, 'POST /dashboard/keys', { name: 'k', mode: 'live', ...more })).key
    const revoke = async (session: Caller, { key_id }: { key_id: string }) =>
      (await it.ask(session, `DELETE /dashboard/keys/${key_id}`)).status
    const ofOwner = [
      await make(it.owner),
      await make(it.owner, { role: 'read' }),
      await make(it.owner, { project_id: here }),
    ]
    for (const key of ofOwner) expect(await revoke(admin.session, key)).toBe(403)
    expect(await revoke(projectAdmin.session, ofOwner[2])).toBe(403)
    for (const key of ofOwner) expect(await revoke(it.owner, key)).toBe(204)
    expect(await revoke(other.session, await make(admin.session))).toBe(204)
    const ofProjectAdmin = await make(projectAdmin.session, { project_id: here })
    expect(await revoke(admin.session, ofProjectAdmin)).toBe(204)
  })

  test('of a project look up people, which its admins’ sessions do not', async () => {
    const here = await it.makeProject('Lookups')
    const { session } = await it.join('member', [{ project_id: here, role: 'admin' }])
    const made = await it.done(session, 'POST /dashboard/keys', {
      name: 'k',
      mode: 'live',
      project_id: here,
    })
    const key = { 'x-api-key': made.api_key, 'x-api-secret': made.api_secret }
    const route = `GET /api/v1/lookup?hem=${'0'.repeat(64)}`
    expect((await it.ask(session, route)).status).toBe(403)
    expect(await it.ask(key, route)).toMatchObject({ status: 200, body: { matched: false } })
  })

  test('of another organization do not exist', async () => {
    const stranger = await it.openStranger()
    const { rows } = await it.postgres.query(
      'SELECT key_id FROM api_keys WHERE organization_id = $1',
      [stranger.organization],
    )
    const answer = await it.ask(it.owner, `DELETE /dashboard/keys/${rows[0].key_id}`)
    expect([answer.status, answer.body.error]).toEqual([404, 'key not found'])
    const there = { name: 'k', mode: 'live', project_id: stranger.project }
    expect((await it.ask(it.owner, 'POST /dashboard/keys', there)).body.error).toBe(
      'project not found',
    )
    expect((await keysSeen()).map(({ key_id }) => key_id)).not.toContain(rows[0].key_id)
    expect((await it.done(stranger.key, 'GET /api/v1/whoami')).organization.name).toBe('Strangers')
  })

  test('are made with a session only: no key and no token makes one', async () => {
    const { token } = await it.done(nobody, 'POST /auth/v1/login', {
      email: it.demo.admin_email,
      password: it.demo.admin_password,
    })
    for (const caller of [it.key, { authorization: `Bearer ${token}` }, nobody]) {
      const answer = await it.ask(caller, 'POST /dashboard/keys', { name: 'k', mode: 'live' })
      expect([answer.status, answer.body.error]).toEqual([401, 'unauthenticated'])
    }
  })
})

describe('the audit log', () => {
  const entriesSeen = async () =>
    (await it.done(it.owner, 'GET /dashboard/audit')).entries as Json[]

  test('says who changed what, newest first', async () => {
    const project_id = await it.makeProject('Before')
    await it.done(it.key, 'PUT /api/v1/project/update', { project_id, name: 'After' })
    const [changed, created] = await entriesSeen()
    expect(changed).toEqual({
      entry_id: expect.stringMatching(/^\d+$/),
      at: expect.any(String),
      action: 'project.update',
      actor: { kind: 'key', id: uuid, name: 'Demo key' },
      object_kind: 'project',
      object_id: project_id,
      object_name: 'After',
      details: { name: { from: 'Before', to: 'After' } },
    })
    expect(created).toMatchObject({
      action: 'project.create',
      object_id: project_id,
      // As it is called now.
      object_name: 'After',
      details: { name: 'Before' },
      actor: { kind: 'member', name: it.demo.admin_email },
    })
    await it.done(it.owner, 'DELETE /api/v1/project/delete', { project_id, events: 'keep' })
    expect((await entriesSeen())[0]).toMatchObject({
      action: 'project.delete',
      object_name: 'After',
    })
  })

  test('has an entry for every change, and none for what was refused', async () => {
    const last = (await entriesSeen())[0].entry_id
    const project_id = await it.makeProject()
    const pixel_id = await it.makePixel(project_id)
    const someone = await it.join('member')
    const one = { project_id, member_id: someone.memberId }
    await it.done(it.owner, 'PUT /api/v1/organization', { name: 'Demo organization' })
    await it.done(it.owner, 'POST /api/v1/project/user/create', { ...one, role: 'member' })
    await it.done(it.owner, 'PUT /api/v1/project/user/update', { ...one, role: 'admin' })
    await it.done(it.owner, 'DELETE /api/v1/project/user/delete', one)
    await it.done(it.owner, 'PUT /api/v1/pixel/update', { pixel_id, settings: { consent: 'hold' } })
    await it.ask(it.owner, 'PUT /api/v1/pixel/update', { pixel_id, version: 99 })
    await it.ask(it.owner, 'PUT /api/v1/pixel/update', { pixel_id: randomUUID(), name: 'x' })
    await it.done(it.owner, 'DELETE /api/v1/pixel/delete', { pixel_id, events: 'keep' })
    const change = { current_password: password, new_password: 'another long password' }
    await it.done(someone.session, 'PUT /dashboard/password', change)
    await it.done(it.owner, 'PUT /api/v1/organization/user/update', {
      member_id: someone.memberId,
      name: 'N',
    })
    await it.done(it.owner, 'DELETE /api/v1/organization/user/delete', {
      member_id: someone.memberId,
    })
    const { key } = await it.done(it.owner, 'POST /dashboard/keys', {
      name: 'k',
      mode: 'live',
      project_id,
    })
    await it.done(it.owner, `DELETE /dashboard/keys/${key.key_id}`)
    await it.done(it.owner, 'DELETE /api/v1/project/delete', { project_id, events: 'keep' })

    const entries = (await entriesSeen())
      .filter(({ entry_id }) => Number(entry_id) > Number(last))
      .reverse()
    expect(entries.map(({ action }) => action)).toEqual([
      'project.create',
      'pixel.create',
      'member.create',
      'member.join',
      'organization.update',
      'project_member.create',
      'project_member.update',
      'project_member.delete',
      'pixel.update',
      'pixel.delete',
      'member.password',
      'member.update',
      'member.delete',
      'key.create',
      'key.revoke',
      'project.delete',
    ])
    expect(entries.find(({ action }) => action === 'pixel.update').details).toMatchObject({
      settings: { from: { consent: 'granted' }, to: { consent: 'hold' } },
    })
    expect(entries.find(({ action }) => action === 'member.join').actor).toEqual({
      kind: 'member',
      id: someone.memberId,
      name: 'Somebody',
    })
  })

  test('is read page by page, by admins alone, and of one’s own organization alone', async () => {
    for (let n = 0; n < 3; n++) await it.makeProject()
    const whole = await entriesSeen()
    const first = await it.done(it.owner, 'GET /dashboard/audit?limit=2')
    const second = await it.done(
      it.owner,
      `GET /dashboard/audit?limit=2&cursor=${first.next_cursor}`,
    )
    expect([...first.entries, ...second.entries]).toEqual(whole.slice(0, 4))

    const { session } = await it.join('member')
    expect((await it.ask(session, 'GET /dashboard/audit')).body.error).toBe('forbidden')
    const stranger = await it.openStranger()
    await it.done(stranger.key, 'POST /api/v1/project/create', { name: 'Their secret plan' })
    expect(JSON.stringify(await entriesSeen())).not.toContain('Their secret plan')
  })
})

test('no secret shows again: not in a list, not in the audit log, not in the service’s own log', async () => {
  const made = await it.done(it.owner, 'POST /dashboard/keys', { name: 'k', mode: 'live' })
  const email = `${randomUUID()}@example.com`
  const { invitation_url } = await it.done(it.owner, 'POST /api/v1/organization/user/create', {
    email,
    role: 'member',
  })
  const token = invitation_url.split('/').at(-1)
  const accepted = await it.ask(nobody, `POST /dashboard/invitation/${token}`, {
    name: 'N',
    password,
  })
  const { token: jwt } = await it.done(nobody, 'POST /auth/v1/login', { email, password })
  await it.ask(nobody, 'POST /dashboard/session', { email, password: 'a wrong password' })
  const session = it.sessionOf(accepted).cookie!.split('=')[1]!
  const key = { 'x-api-key': made.api_key, 'x-api-secret': made.api_secret }
  await it.done(key, 'GET /api/v1/whoami')

  const seen = await Promise.all(
    [
      'GET /dashboard/keys',
      'GET /dashboard/audit',
      'GET /dashboard/session',
      'GET /api/v1/whoami',
      'GET /api/v1/organization/user/list',
      'GET /api/v1/project/list',
      'GET /api/v1/organization',
    ].map((route) => it.done(it.owner, route)),
  )
  const { rows } = await it.postgres.query('SELECT audit_log::text AS row FROM audit_log')
  const said = JSON.stringify(seen) + JSON.stringify(rows) + it.service.output()
  const secrets = {
    api_key: made.api_key,
    api_secret: made.api_secret,
    token,
    session,
    jwt,
    password,
  }
  for (const [name, secret] of Object.entries({ ...secrets, wrong: 'a wrong password' })) {
    expect([name, said.includes(secret)]).toEqual([name, false])
  }
  expect(said).not.toMatch(/argon2id|_sha256/)
})

describe('the keys of a member who is removed', () => {
  const remove = (member_id: string, api_keys?: string, caller = it.owner) =>
    it.ask(caller, 'DELETE /api/v1/organization/user/delete', { member_id, api_keys })
  const statusOf = async (caller: Caller) => (await it.ask(caller, 'GET /api/v1/whoami')).status

  test('are listed, and nobody is removed before it is said what becomes of them', async () => {
    const someone = await it.join('admin')
    const key = await it.makeKey(null, 'live', { by: someone.session })
    const asked = await remove(someone.memberId)
    expect(asked).toMatchObject({
      status: 409,
      body: {
        error: 'conflict',
        api_keys: [{ name: 'k', role: 'admin', created_by: someone.email }],
      },
    })
    expect(JSON.stringify(asked.body)).not.toContain(key['x-api-key'])
    await it.done(it.owner, `GET /api/v1/organization/user/retrieve/${someone.memberId}`)
    expect(await statusOf(key)).toBe(200)
  })

  test('are revoked', async () => {
    const someone = await it.join('admin')
    const key = await it.makeKey(null, 'live', { by: someone.session })
    expect((await remove(someone.memberId, 'revoke')).status).toBe(204)
    await waitFor('the end', async () => (await statusOf(key)) === 401)
  })

  test('or handed over, and may then no more than the new holder', async () => {
    const [former, admin] = [await it.join('owner'), await it.join('admin')]
    const key = await it.makeKey(null, 'live', { by: former.session })
    const { key_id } = (await it.done(key, 'GET /api/v1/whoami')).caller
    // As one that was made before roles were: the update asks about the key.
    await it.postgres.query(`UPDATE members SET role = 'admin' WHERE member_id = $1`, [
      former.memberId,
    ])
    expect((await remove(former.memberId, 'hand_over', admin.session)).status).toBe(204)
    expect((await keysSeen()).find((each) => each.key_id === key_id)).toMatchObject({
      role: 'admin',
      created_by: admin.email,
      created_by_member_id: admin.memberId,
    })
    expect(await statusOf(key)).toBe(200)
    const { entries } = await it.done(it.owner, 'GET /dashboard/audit')
    expect(
      entries.find(({ action }: Json) => action === 'key.hand_over'),
      'the log says the role that the key has now',
    ).toMatchObject({ object_id: key_id, details: { role: 'admin' } })
  })

  test('of nobody who made any are not asked about', async () => {
    const someone = await it.join('member')
    expect((await remove(someone.memberId)).status).toBe(204)
  })
})

describe('the keys of a member who may less from now on', () => {
  const statusOf = async (caller: Caller) => (await it.ask(caller, 'GET /api/v1/whoami')).status
  const inProject = async (role: 'admin' | 'member' = 'admin') => {
    const project_id = await it.makeProject()
    const someone = await it.join('member', [{ project_id, role: 'admin' }])
    const keyRole = role === 'admin' ? {} : ({ role: 'read' } as const)
    const key = await it.makeKey(project_id, 'live', { by: someone.session, ...keyRole })
    return { ...someone, project_id, key, member: { project_id, member_id: someone.memberId } }
  }
  const asked = (key: object) => ({ status: 409, body: { error: 'conflict', api_keys: [key] } })

  test('and is taken out of a project, of this project alone, are asked about', async () => {
    const { key, member, memberId, session, project_id } = await inProject()
    const other = await it.makeProject()
    await it.done(it.owner, 'POST /api/v1/project/user/create', {
      project_id: other,
      member_id: memberId,
      role: 'admin',
    })
    const otherKey = await it.makeKey(other, 'live', { by: session })
    const remove = (api_keys?: string) =>
      it.ask(it.owner, 'DELETE /api/v1/project/user/delete', { ...member, api_keys })

    expect(await remove()).toMatchObject(asked({ project_id, role: 'admin' }))
    await it.done(
      it.owner,
      `GET /api/v1/project/user/retrieve/${memberId}?project_id=${project_id}`,
    )
    expect(await statusOf(key)).toBe(200)
    expect((await remove('revoke')).status).toBe(204)
    await waitFor('the end', async () => (await statusOf(key)) === 401)
    expect(await statusOf(otherKey)).toBe(200)
  })

  test('go to the admin of the project who takes them over', async () => {
    const { key, member, project_id } = await inProject()
    const admin = await it.join('member', [{ project_id, role: 'admin' }])
    await it.done(admin.session, 'DELETE /api/v1/project/user/delete', {
      ...member,
      api_keys: 'hand_over',
    })
    const { key_id } = (await it.done(key, 'GET /api/v1/whoami')).caller
    expect((await keysSeen()).find((each) => each.key_id === key_id)).toMatchObject({
      role: 'admin',
      created_by_member_id: admin.memberId,
    })
  })

  test('as a plain member of the project are asked about where they may more', async () => {
    const { key, member } = await inProject()
    const demote = (api_keys?: string) =>
      it.ask(it.owner, 'PUT /api/v1/project/user/update', { ...member, role: 'member', api_keys })
    expect(await demote()).toMatchObject(asked({ role: 'admin' }))
    expect((await demote('revoke')).body.project_member.role).toBe('member')
    await waitFor('the end', async () => (await statusOf(key)) === 401)

    const reader = await inProject('member')
    await it.done(it.owner, 'PUT /api/v1/project/user/update', { ...reader.member, role: 'member' })
    expect(await statusOf(reader.key)).toBe(200)
  })

  test.each([
    ['owner', 'admin', null],
    ['admin', 'member', null],
    ['admin', 'member', 'a project'],
  ] as const)('as %s made %s are asked about (project: %s)', async (role, newRole, ofProject) => {
    const someone = await it.join(role)
    const key = await it.makeKey(ofProject && (await it.makeProject()), 'live', {
      by: someone.session,
    })
    const change = { member_id: someone.memberId, role: newRole }
    const update = (more: object) =>
      it.ask(it.owner, 'PUT /api/v1/organization/user/update', { ...change, ...more })
    expect(await update({})).toMatchObject(asked({ created_by: someone.email }))
    const same = `GET /api/v1/organization/user/retrieve/${someone.memberId}`
    expect((await it.done(it.owner, same)).member.role).toBe(role)
    expect((await update({ api_keys: 'hand_over' })).body.member.role).toBe(newRole)
    expect(await statusOf(key)).toBe(200)
    const { key_id } = (await it.done(key, 'GET /api/v1/whoami')).caller
    expect((await keysSeen()).find((each) => each.key_id === key_id).created_by).toBe(
      it.demo.admin_email,
    )
  })

  test('cannot be handed over to the member who gives them up', async () => {
    const someone = await it.join('admin')
    const key = await it.makeKey(null, 'live', { by: someone.session })
    const step = { member_id: someone.memberId, role: 'member', api_keys: 'hand_over' }
    for (const caller of [someone.session, key]) {
      expect(await it.ask(caller, 'PUT /api/v1/organization/user/update', step)).toMatchObject({
        status: 400,
        body: { error: 'invalid_parameter', parameter: 'api_keys' },
      })
    }
    expect(await statusOf(key)).toBe(200)
  })

  test('are not asked about where only a name changes, or where they may more from now on', async () => {
    const someone = await it.join('admin')
    await it.makeKey(null, 'live', { by: someone.session })
    const update = (changes: object) =>
      it.ask(it.owner, 'PUT /api/v1/organization/user/update', {
        member_id: someone.memberId,
        ...changes,
      })
    expect((await update({ name: 'Renamed' })).status).toBe(200)
    expect((await update({ role: 'owner' })).status).toBe(200)
  })
})
