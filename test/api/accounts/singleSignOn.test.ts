/** Members sign in through their organization's identity provider, and attackers do not. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { setOperator } from '../../../collector/accounts/operator/operators.ts'
import { openTokenIssuer, type TokenIssuer } from '../../harness/tokenIssuer.ts'
import { type Accounts, type Json, nobody, openAccounts, password } from './harness.ts'
import { begin, comeBack, connect, honest, signInAs } from './singleSignOn.ts'

let it: Accounts
let issuer: TokenIssuer
let settings: Json
beforeAll(async () => {
  ;[it, issuer] = await Promise.all([openAccounts(), openTokenIssuer()])
  settings = await connect(it, issuer)
})
afterAll(async () => {
  await it.close()
  await issuer.close()
})

const path = '/api/v1/organization/single-sign-on'
const memberOf = async (accounts: Accounts, email: string): Promise<Json> =>
  (await accounts.done(accounts.owner, 'GET /api/v1/organization/user/list')).members.find(
    (member: Json) => member.email === email,
  )
const signIn = (claims: object, name = settings.sign_in_name) => signInAs(it, issuer, name, claims)
const someone = (more: object = {}) => {
  const sub = randomUUID()
  return { sub, email: `${sub}@example.com`, ...more }
}

describe('a sign-in through the provider', () => {
  test('creates a member with the highest role of their groups, and records it', async () => {
    const who = someone({ groups: ['staff', 'bosses', 'others'] })
    const session = await signIn(who)
    const answer = await it.done(session, 'GET /dashboard/session')
    expect(answer).toMatchObject({
      member: { email: who.email, name: 'Ada', role: 'admin' },
      organizations: [{ organization_id: it.demo.organization_id }],
      by_provider: true,
    })
    expect(await memberOf(it, who.email)).toMatchObject({ status: 'active', role: 'admin' })
    const { entries } = await it.done(it.owner, 'GET /dashboard/audit')
    expect(entries[0]).toMatchObject({
      action: 'member.sign_in',
      actor: { id: answer.member.member_id },
      details: { by: 'provider', address: expect.any(String) },
    })
    expect(entries[1]).toMatchObject({
      action: 'member.join',
      actor: { id: answer.member.member_id },
      details: { email: who.email, role: 'admin', issuer: issuer.issuer },
    })
  })

  test('changes the role with the groups, and ends keys above the new role', async () => {
    const who = someone({ groups: ['bosses'] })
    const key = await it.makeKey(null, 'live', { by: await signIn(who), role: 'admin' })
    expect((await it.ask(key, 'GET /api/v1/organization/user/list')).status).toBe(200)
    await signIn({ ...who, groups: ['staff'] })
    expect(await memberOf(it, who.email)).toMatchObject({ role: 'member' })
    await expect
      .poll(async () => (await it.ask(key, 'GET /api/v1/organization/user/list')).status)
      .toBe(401)
  })

  test('gives default_role to a person who left all groups, and keeps roles where no group has one', async () => {
    const own = await openAccounts()
    const { sign_in_name } = await connect(own, issuer, { default_role: 'member' })
    const who = someone({ groups: ['bosses'] })
    const key = await own.makeKey(null, 'live', {
      by: await signInAs(own, issuer, sign_in_name, who),
      role: 'admin',
    })
    expect(await memberOf(own, who.email)).toMatchObject({ role: 'admin' })
    await signInAs(own, issuer, sign_in_name, { ...who, groups: [] })
    const { member_id, role } = await memberOf(own, who.email)
    expect(role).toBe('member')
    await expect
      .poll(async () => (await own.ask(key, 'GET /api/v1/organization/user/list')).status)
      .toBe(401)

    const manual = await connect(own, issuer, { default_role: 'member', group_roles: [] })
    const promotion = { member_id, role: 'admin' }
    await own.done(own.owner, 'PUT /api/v1/organization/user/update', promotion)
    await signInAs(own, issuer, manual.sign_in_name, { ...who, groups: [] })
    expect(await memberOf(own, who.email)).toMatchObject({ role: 'admin' })
    await own.close()
  })

  test('refuses a member who is in no group any more, and ends their keys, sessions and role', async () => {
    const who = someone({ groups: ['bosses'] })
    const session = await signIn(who)
    const key = await it.makeKey(null, 'live', { by: session, role: 'read' })
    expect((await it.ask(key, 'GET /api/v1/whoami')).status).toBe(200)
    const begun = await begin(it, settings.sign_in_name)
    const code = issuer.codeFor(honest(begun, { ...who, groups: [] }))
    expect((await comeBack(begun, code)).reason).toBe('group_refused')
    expect(await memberOf(it, who.email)).toMatchObject({ role: 'member' })
    await expect.poll(async () => (await it.ask(key, 'GET /api/v1/whoami')).status).toBe(401)
    await expect
      .poll(async () => (await it.ask(session, 'GET /dashboard/session')).status)
      .toBe(401)
  })

  test('takes an address and its verification from one source', async () => {
    const attempt = async (claims: object, userInfo: Record<string, unknown>) => {
      const begun = await begin(it, settings.sign_in_name)
      const code = issuer.codeFor(honest(begun, claims), { userInfo })
      return (await comeBack(begun, code)).reason
    }
    const [token, info] = [someone(), someone()]
    const unverified = { ...token, email_verified: undefined }
    // A verified address in the user info says nothing about another address in the token.
    expect(await attempt(unverified, { email_verified: true })).toBe('email_unverified')
    expect(await attempt({ ...token, email: undefined }, { email: info.email })).toBe(
      'email_unverified',
    )
    const verified = { email: info.email, email_verified: true }
    expect(await attempt(unverified, verified)).toBeNull()
    expect(await memberOf(it, token.email)).toBeUndefined()
    expect(await memberOf(it, info.email)).toMatchObject({ status: 'active' })
  })

  test('accepts the invitation of an invited member, whose link ends', async () => {
    const who = someone()
    const invited = await it.done(it.owner, 'POST /api/v1/organization/user/create', {
      email: who.email,
      role: 'admin',
    })
    const token = await it.invitationToken(invited)
    await signIn({ ...who, groups: ['staff'] })
    expect(await memberOf(it, who.email)).toMatchObject({ status: 'active', role: 'member' })
    expect((await it.ask(nobody, `GET /dashboard/invitation/${token}`)).status).toBe(404)
  })

  test('lasts 12 hours, ends with sign-out and with the member', async () => {
    const who = someone()
    const session = await signIn(who)
    const { rows } = await it.postgres.query(
      `SELECT extract(epoch FROM expires_at - sessions.created_at)::int AS seconds FROM sessions
       JOIN members USING (member_id) WHERE email = $1`,
      [who.email],
    )
    expect(rows).toEqual([{ seconds: 43_200 }])
    await it.done(session, 'DELETE /dashboard/session')
    const again = await signIn(who)
    const { member_id } = await memberOf(it, who.email)
    await it.done(it.owner, 'DELETE /api/v1/organization/user/delete', { member_id })
    for (const ended of [session, again])
      await expect
        .poll(async () => (await it.ask(ended, 'GET /dashboard/session')).status)
        .toBe(401)
  })

  test('sends PKCE, state and nonce, and the secret only to the token endpoint', async () => {
    const begun = await begin(it, settings.sign_in_name)
    expect(Object.fromEntries(begun.sent)).toEqual({
      client_id: 'footfall',
      response_type: 'code',
      redirect_uri: settings.redirect_uri,
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
    await comeBack(begun, issuer.codeFor(honest(begun, someone())))
    const { form, authorization } = issuer.exchanges.at(-1)!
    expect(form.get('code_verifier')).toMatch(/^[\w-]{43}$/)
    expect(authorization).toBe(`Basic ${btoa('footfall:secret')}`)
  })
})

describe('refused is', () => {
  const hour = 3600
  const now = () => Math.floor(Date.now() / 1000)
  const cases: [string, object | (() => object), string][] = [
    ['a token of another issuer', { iss: 'https://accounts.google.com' }, 'provider_failed'],
    ['a token for another client', { aud: 'another' }, 'provider_failed'],
    ['a changed nonce', { nonce: 'another' }, 'provider_failed'],
    ['a token without a nonce', { nonce: undefined }, 'provider_failed'],
    ['an expired token', () => ({ iat: now() - hour, exp: now() - hour / 2 }), 'provider_failed'],
    ['a token without a subject', { sub: undefined }, 'provider_failed'],
    ['an address that is not verified', { email_verified: false }, 'email_unverified'],
    ['an address that nobody calls verified', { email_verified: undefined }, 'email_unverified'],
    ['a person without an address', { email: undefined }, 'email_missing'],
    ['an address of another domain', { email: 'a@example.com.evil.example' }, 'domain_refused'],
    ['a second domain in the address', { email: 'a@evil.example@example.com' }, 'email_missing'],
    ['a person in none of the groups', { groups: ['others'] }, 'group_refused'],
    ['a person whose groups are no list of texts', { groups: [{ staff: true }] }, 'group_refused'],
  ]
  test.each(cases)('%s', async (_, claims, reason) => {
    const begun = await begin(it, settings.sign_in_name)
    const changed = typeof claims === 'function' ? claims() : claims
    const code = issuer.codeFor(honest(begun, { ...someone(), ...changed }))
    const back = await comeBack(begun, code)
    expect(back).toMatchObject({ reason, session: {} })
  })

  test('a token that another key signed, and one without a signature', async () => {
    const forged = async (how: { otherKey?: boolean; raw?: string }) => {
      const begun = await begin(it, settings.sign_in_name)
      const claims = { iss: issuer.issuer, ...honest(begun, someone()) }
      const [head, body] = [{ alg: 'none' }, claims].map((part) =>
        Buffer.from(JSON.stringify(part)).toString('base64url'),
      )
      const raw = how.raw === undefined ? undefined : `${head}.${body}.`
      const code = issuer.codeFor(claims, { ...how, ...(raw && { raw }) })
      return (await comeBack(begun, code)).reason
    }
    expect(await forged({ otherKey: true })).toBe('provider_failed')
    expect(await forged({ raw: 'none' })).toBe('provider_failed')
  })

  test('a state that was used, is of another browser or of nobody', async () => {
    const begun = await begin(it, settings.sign_in_name)
    const code = () => issuer.codeFor(honest(begun, someone()))
    const other = await begin(it, settings.sign_in_name)
    expect((await comeBack(begun, code(), { cookie: '' })).reason).toBe('expired')
    expect((await comeBack(begun, code(), { cookie: other.cookie })).reason).toBe('provider_failed')
    expect((await comeBack(begun, code(), { state: 'x' })).reason).toBe('provider_failed')
    // The tries above used nothing of the first browser but its own state.
    expect((await comeBack(begun, code())).reason).toBe('expired')
    const fresh = await begin(it, settings.sign_in_name)
    const good = issuer.codeFor(honest(fresh, someone()))
    expect((await comeBack(fresh, good)).reason).toBeNull()
    expect((await comeBack(fresh, good)).reason).toBe('expired')
  })

  test('a state whose ten minutes are over', async () => {
    const begun = await begin(it, settings.sign_in_name)
    const { rows } = await it.postgres.query(
      "SELECT max(expires_at) > now() AND max(expires_at) <= now() + interval '10 minutes' AS is_valid FROM provider_sign_ins",
    )
    expect(rows).toEqual([{ is_valid: true }])
    await it.postgres.query(
      "UPDATE provider_sign_ins SET expires_at = expires_at - interval '10 minutes'",
    )
    const back = await comeBack(begun, issuer.codeFor(honest(begun, someone())))
    expect(back).toMatchObject({ reason: 'expired', session: {} })
  })

  test('a state of one organization at the address of another', async () => {
    const other = await openAccounts()
    const { redirect_uri } = await connect(other, issuer)
    const begun = await begin(it, settings.sign_in_name)
    const code = issuer.codeFor(honest(begun, someone()))
    expect(await comeBack(begun, code, { at: redirect_uri })).toMatchObject({
      reason: 'expired',
      session: {},
    })
    await other.close()
  })

  test('another person of the provider with the address of a member', async () => {
    const who = someone()
    await signIn(who)
    const begun = await begin(it, settings.sign_in_name)
    const code = issuer.codeFor(honest(begun, { ...who, sub: 'somebody-else' }))
    expect((await comeBack(begun, code)).reason).toBe('identity_conflict')
  })

  test('a start from another site, and for a name that nobody has', async () => {
    const start = { sign_in_name: settings.sign_in_name }
    const foreign = { origin: 'https://evil.example' }
    expect(await it.ask(foreign, 'POST /dashboard/single-sign-on', start)).toMatchObject({
      status: 403,
      body: { error: 'cross_origin' },
    })
    const unknown = { sign_in_name: 'nobody-has-it' }
    const own = { origin: it.url }
    expect(await it.ask(own, 'POST /dashboard/single-sign-on', unknown)).toMatchObject({
      status: 404,
      body: { code: 'single_sign_on_not_found' },
    })
  })
})

describe('an account of the same address in another organization', () => {
  test('is not taken over: the session reaches one organization and nothing of the account', async () => {
    const other = await openAccounts()
    const victim = await other.join('admin')
    expect(await setOperator(it.postgres, victim.email, true)).toBe(true)
    const session = await signIn({ sub: randomUUID(), email: victim.email })
    const inOther = { ...session, 'x-organization-id': other.demo.organization_id }
    expect((await it.ask(inOther, 'GET /dashboard/session')).status).toBe(401)
    expect((await it.ask(inOther, 'GET /api/v1/organization/user/list')).status).toBe(401)
    const { organizations, is_operator } = await it.done(session, 'GET /dashboard/session')
    expect(organizations).toHaveLength(1)
    expect(is_operator).toBeUndefined()
    const refused: [string, object?][] = [
      ['GET /dashboard/account'],
      ['PUT /dashboard/account', { name: 'Mallory' }],
      ['GET /dashboard/sessions'],
      ['DELETE /dashboard/sessions'],
      ['GET /dashboard/operator/status'],
      ['PUT /dashboard/password', { current_password: password, new_password: `${password}!` }],
      ['POST /dashboard/two-factor', { current_password: password }],
      ['POST /dashboard/email-change', { email: 'm@example.com', current_password: password }],
    ]
    for (const [route, body] of refused)
      expect({ route, status: (await it.ask(session, route, body)).status }).toEqual({
        route,
        status: 403,
      })
    const switched = { organization_id: other.demo.organization_id }
    expect((await it.ask(session, 'PUT /dashboard/session', switched)).status).toBe(404)
    // The account's own session sees nothing of the organization that spoke for its address.
    const own = await it.done(await it.signIn(victim.email, password), 'GET /dashboard/session')
    expect(own.organization.organization_id).toBe(other.demo.organization_id)
    expect(own.organizations).toHaveLength(1)
    await other.close()
  })

  test('accepts no invitation with the session of a provider', async () => {
    const other = await openAccounts()
    const victim = await other.join('member')
    const third = await openAccounts()
    const invited = await third.done(third.owner, 'POST /api/v1/organization/user/create', {
      email: victim.email,
      role: 'admin',
    })
    const session = await signIn({ sub: randomUUID(), email: victim.email })
    const token = await third.invitationToken(invited)
    expect(await it.ask(session, `POST /dashboard/invitation/${token}`, {})).toMatchObject({
      status: 400,
      body: { parameter: 'password' },
    })
    await Promise.all([other.close(), third.close()])
  })
})

describe('an organization that requires single sign-on', () => {
  test('is closed to passwords, legacy tokens and invitations, but not to its emergency owner', async () => {
    const own = await openAccounts()
    const plain = await own.join('admin')
    const login = { email: plain.email, password }
    const { token } = await own.done(nobody, 'POST /auth/v1/login', login)
    const bearer = { authorization: `Bearer ${token}` }
    expect((await own.ask(bearer, 'GET /api/v1/whoami')).status).toBe(200)
    const invited = await own.done(own.owner, 'POST /api/v1/organization/user/create', {
      email: someone().email,
      role: 'member',
    })
    await connect(own, issuer, { required: true })
    for (const caller of [plain.session, bearer])
      await expect.poll(async () => (await own.ask(caller, 'GET /api/v1/whoami')).status).toBe(401)
    expect(await own.ask(nobody, 'POST /dashboard/session', login)).toMatchObject({
      status: 403,
      body: { code: 'single_sign_on_required' },
    })
    const wrong = { ...login, password: 'a wrong password' }
    expect((await own.ask(nobody, 'POST /dashboard/session', wrong)).status).toBe(401)
    const path = `POST /dashboard/invitation/${await own.invitationToken(invited)}`
    expect(await own.ask(nobody, path, { name: 'N', password })).toMatchObject({
      status: 409,
      body: { code: 'invalid_state' },
    })
    const { admin_email, admin_password } = own.demo
    const emergency = await own.signIn(admin_email, admin_password)
    expect((await own.ask(emergency, 'GET /api/v1/whoami')).status).toBe(200)
    expect((await own.ask(own.key, 'GET /api/v1/whoami')).status).toBe(200)
    await own.close()
  })

  test('leaves the other organizations of a user open', async () => {
    const [strict, open] = [await openAccounts(), await openAccounts()]
    const user = await strict.join('member')
    const { member, ...invited } = await open.done(
      open.owner,
      'POST /api/v1/organization/user/create',
      { email: user.email, role: 'member' },
    )
    const token = await open.invitationToken({ member, ...invited })
    await open.done(user.session, `POST /dashboard/invitation/${token}`, {})
    await connect(strict, issuer, { required: true })
    const session = await open.signIn(user.email, password)
    const answer = await open.done(session, 'GET /dashboard/session')
    expect(answer.organizations.map((found: Json) => found.organization_id)).toEqual([
      open.demo.organization_id,
    ])
    const switched = { organization_id: strict.demo.organization_id }
    expect((await open.ask(session, 'PUT /dashboard/session', switched)).status).toBe(404)
    await Promise.all([strict.close(), open.close()])
  })
})

describe('the settings', () => {
  const current = () => {
    const { redirect_uri, created_at, updated_at, version, ...input } = settings
    return input
  }

  test('never return the secret, and are for owners to change', async () => {
    const answer = await it.done(it.owner, `GET ${path}`)
    expect(answer.single_sign_on).toEqual(settings)
    expect(JSON.stringify(answer)).not.toContain('secret')
    const { session: admin } = await it.join('admin')
    const { session: member } = await it.join('member')
    expect((await it.ask(admin, `GET ${path}`)).status).toBe(200)
    expect((await it.ask(admin, `PUT ${path}`, current())).status).toBe(403)
    expect((await it.ask(admin, `DELETE ${path}`)).status).toBe(403)
    expect((await it.ask(member, `GET ${path}`)).status).toBe(403)
    const { rows } = await it.postgres.query(
      'SELECT client_secret FROM single_sign_on WHERE organization_id = $1',
      [it.demo.organization_id],
    )
    expect(rows[0].client_secret).toMatch(/^v1\./)
  })

  test.each([
    ['an address inside the network', { issuer: 'https://10.0.0.1' }, 'issuer'],
    ['an address of cloud metadata', { issuer: 'https://169.254.169.254' }, 'issuer'],
    ['plain http', { issuer: 'http://login.example.com' }, 'issuer'],
    ['a page that is no provider', { issuer: 'http://127.0.0.1:9' }, 'issuer'],
    ['no domain', { email_domains: [] }, 'email_domains'],
    ['a name with spaces', { sign_in_name: 'a b' }, 'sign_in_name'],
  ])('refuse %s', async (_, change, parameter) => {
    const answer = await it.ask(it.owner, `PUT ${path}`, {
      ...current(),
      client_secret: 'secret',
      ...change,
    })
    expect(answer).toMatchObject({ status: 400, body: { parameter } })
  })

  test('refuse an emergency owner who is unknown, or is no owner', async () => {
    const put = (emergency_member_id: string) =>
      it.ask(it.owner, `PUT ${path}`, { ...current(), emergency_member_id })
    expect((await put(randomUUID())).status).toBe(404)
    const { memberId } = await it.join('admin')
    expect(await put(memberId)).toMatchObject({
      status: 400,
      body: { parameter: 'emergency_member_id' },
    })
  })

  test('send a stored secret to no other issuer', async () => {
    const other = await openTokenIssuer()
    const answer = await it.ask(it.owner, `PUT ${path}`, { ...current(), issuer: other.issuer })
    expect(answer).toMatchObject({ status: 400, body: { parameter: 'client_secret' } })
    await other.close()
  })

  test('refuse a name of another organization, and a version that is not current', async () => {
    const other = await openAccounts()
    const theirs = await connect(other, issuer)
    const taken = { ...current(), sign_in_name: theirs.sign_in_name }
    expect(await it.ask(it.owner, `PUT ${path}`, taken)).toMatchObject({
      status: 409,
      body: { code: 'already_exists' },
    })
    expect(await it.ask(it.owner, `PUT ${path}`, { ...current(), version: 99 })).toMatchObject({
      status: 409,
      body: { code: 'version_conflict', single_sign_on: { version: settings.version } },
    })
    await other.close()
  })

  test('of a provider whose sign-in page is a script send nobody there', async () => {
    const script = await openTokenIssuer({ authorization_endpoint: 'javascript:alert(1)' })
    const own = await openAccounts()
    const { sign_in_name } = await connect(own, script)
    const start = own.ask({ origin: own.url }, 'POST /dashboard/single-sign-on', { sign_in_name })
    expect(await start).toMatchObject({ status: 503, body: { error: 'busy' } })
    await Promise.all([own.close(), script.close()])
  })

  test('keep the emergency owner an owner, whatever groups say', async () => {
    const own = await openAccounts()
    const second = await own.join('owner')
    const { sign_in_name, emergency_member_id } = await connect(own, issuer, {
      emergency_member_id: second.memberId,
    })
    expect(emergency_member_id).toBe(second.memberId)
    const domain = second.email.split('@')[1]
    expect(domain).toBe('example.com')
    await signInAs(own, issuer, sign_in_name, { sub: 'e', email: second.email })
    expect(await memberOf(own, second.email)).toMatchObject({ role: 'owner' })
    const change = { member_id: second.memberId, role: 'admin' }
    expect(await own.ask(own.owner, 'PUT /api/v1/organization/user/update', change)).toMatchObject({
      status: 409,
      body: { code: 'in_use' },
    })
    const removal = { member_id: second.memberId }
    expect(
      await own.ask(own.owner, 'DELETE /api/v1/organization/user/delete', removal),
    ).toMatchObject({ status: 409, body: { code: 'in_use' } })
    await own.close()
  })

  test('end the sessions of the provider when it is removed', async () => {
    const own = await openAccounts()
    const { sign_in_name } = await connect(own, issuer)
    const who = someone()
    const session = await signInAs(own, issuer, sign_in_name, who)
    await own.done(own.owner, `DELETE ${path}`)
    await expect
      .poll(async () => (await own.ask(session, 'GET /dashboard/session')).status)
      .toBe(401)
    expect(await memberOf(own, who.email)).toMatchObject({ status: 'invited' })
    const { entries } = await own.done(own.owner, 'GET /dashboard/audit')
    expect(entries.map(({ action }: Json) => action)).toEqual(
      expect.arrayContaining(['single_sign_on.update', 'single_sign_on.delete', 'member.join']),
    )
    await own.close()
  })
})
