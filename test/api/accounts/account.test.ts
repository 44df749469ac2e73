import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { disableTwoFactor } from '../../../collector/accounts/accountCommands.ts'
import { stepAt } from '../../../collector/accounts/credentials/totp.ts'
import { fromBase32 } from '../../harness/base32.ts'
import { waitFor } from '../../harness/service.ts'
import { codeOf } from '../../harness/totp.ts'
import { type Accounts, type Caller, type Json, nobody, openAccounts, password } from './harness.ts'

let it: Accounts

beforeAll(async () => {
  it = await openAccounts({
    apps: 2,
    env: { FOOTFALL_TRUSTED_PROXIES: '127.0.0.1' },
    sendsMail: true,
  })
})
afterAll(() => it.close())

const randomAddress = () => `10.${[0, 0, 0].map(() => Math.floor(Math.random() * 256)).join('.')}`

/** From an address of its own, and a browser that nobody knows. */
const signIn = (email: string, code?: string, withPassword = password) =>
  it.ask({ 'x-forwarded-for': randomAddress() }, 'POST /dashboard/session', {
    email,
    password: withPassword,
    ...(code !== undefined && { code }),
  })

/** The current time step, or some after or before it. */
const current = (apart = 0) => stepAt(Date.now()) + apart

/** Somebody with two-factor authentication on, whose newest code has been used. */
async function withTwoFactor() {
  const someone = await it.join('member')
  const { secret } = await it.done(someone.session, 'POST /dashboard/two-factor', {
    current_password: password,
  })
  const bytes = fromBase32(secret)
  const codeAt = (step: number) => codeOf(bytes, step)
  const { recovery_codes } = await it.done(someone.session, 'PUT /dashboard/two-factor', {
    code: codeAt(current(-1)),
  })
  return { ...someone, secret: secret as string, codeAt, recoveryCodes: recovery_codes as string[] }
}

describe('two-factor authentication', () => {
  test('is begun with the password, on after a first code, and then asked for', async () => {
    const { email, session } = await it.join('admin')
    const begin = (current_password: string) =>
      it.ask(session, 'POST /dashboard/two-factor', { current_password })
    expect((await begin('not the password')).body).toMatchObject({ parameter: 'current_password' })
    const { secret, uri } = (await begin(password)).body
    expect(uri).toBe(
      `otpauth://totp/Footfall:${encodeURIComponent(email)}?secret=${secret}&issuer=Footfall&algorithm=SHA1&digits=6&period=30`,
    )
    // Begun is not on.
    expect((await signIn(email)).status).toBe(200)
    expect(await it.done(session, 'GET /dashboard/account')).toMatchObject({ two_factor: null })

    const confirm = (code: string) => it.ask(session, 'PUT /dashboard/two-factor', { code })
    const wrong = await confirm(codeOf(Buffer.alloc(20), current()))
    expect([wrong.status, wrong.body.parameter]).toEqual([400, 'code'])
    const { recovery_codes } = (await confirm(codeOf(fromBase32(secret), current(-1)))).body
    expect(new Set(recovery_codes).size).toBe(10)
    expect(await it.done(session, 'GET /dashboard/account')).toMatchObject({
      two_factor: { recovery_codes_left: 10 },
    })

    const refused = await signIn(email)
    expect([refused.status, refused.body.error]).toEqual([401, 'second_factor_required'])
    expect(refused.headers.getSetCookie()).toEqual([])
    const wrongCode = await signIn(email, '000000')
    expect([wrongCode.status, wrongCode.body.error]).toEqual([401, 'invalid_code'])
    expect(wrongCode.headers.getSetCookie()).toEqual([])
    expect((await signIn(email, codeOf(fromBase32(secret), current()))).status).toBe(200)
    expect((await begin(password)).status).toBe(409)
  })

  test('tells nothing of it to who does not know the password', async () => {
    const { email, codeAt } = await withTwoFactor()
    const answers = [
      await signIn(email, undefined, 'not the password'),
      await signIn(email, codeAt(current()), 'not the password'),
      await signIn(`${randomUUID()}@example.com`, '000000', 'not the password'),
    ]
    for (const { status, body } of answers) {
      expect([status, body.error]).toEqual([401, 'invalid_credentials'])
    }
    // A code that came with a wrong password is not used up.
    expect((await signIn(email, codeAt(current()))).status).toBe(200)
  })

  test('takes each code once, of several at once too, and none from before', async () => {
    const { email, codeAt } = await withTwoFactor()
    const code = codeAt(current())
    const answers = await Promise.all(Array.from({ length: 5 }, () => signIn(email, code)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401])
    expect((await signIn(email, code)).body.error).toBe('invalid_code')
    expect((await signIn(email, codeAt(current(-1)))).body.error).toBe('invalid_code')
  })

  test('takes a recovery code instead, however it is typed, once', async () => {
    const { email, recoveryCodes, session } = await withTwoFactor()
    const typed = recoveryCodes[0]!.toUpperCase().replaceAll('-', ' ')
    expect((await signIn(email, typed)).status).toBe(200)
    expect((await signIn(email, typed)).body.error).toBe('invalid_code')
    expect((await it.done(session, 'GET /dashboard/account')).two_factor.recovery_codes_left).toBe(
      9,
    )
    const { recovery_codes } = await it.done(session, 'POST /dashboard/two-factor/recovery-codes', {
      current_password: password,
      code: recoveryCodes[1]!,
    })
    expect((await signIn(email, recoveryCodes[2]!)).body.error).toBe('invalid_code')
    expect((await signIn(email, recovery_codes[0])).status).toBe(200)
  })

  test('limits tries of codes by account, from wherever they come; a browser that is known has its own', async () => {
    const { email, codeAt, recoveryCodes } = await withTwoFactor()
    const first = await signIn(email, recoveryCodes[0]!)
    const browser = first.headers
      .getSetCookie()
      .find((cookie) => cookie.startsWith('footfall_browser='))!
    const answers = await Promise.all(Array.from({ length: 14 }, () => signIn(email, '000000')))
    const statuses = answers.map(({ status }) => status)
    // One of ten tries was the confirmation, one the sign-in above.
    expect(statuses.filter((status) => status === 401)).toHaveLength(8)
    expect(statuses.filter((status) => status === 429)).toHaveLength(6)
    // The right password gives none of them back.
    expect((await signIn(email, codeAt(current()))).status).toBe(429)
    const known = await it.ask(
      { 'x-forwarded-for': randomAddress(), cookie: browser.split(';')[0]! },
      ...(['POST /dashboard/session', { email, password, code: recoveryCodes[1] }] as const),
    )
    expect(known.status).toBe(200)
  })

  test('is asked for by every other way to a session or a token', async () => {
    const { email, codeAt, recoveryCodes } = await withTwoFactor()
    const login = (code?: string) =>
      it.ask({ 'x-forwarded-for': randomAddress() }, 'POST /auth/v1/login', {
        email,
        password,
        ...(code && { code }),
      })
    expect((await login()).body.error).toBe('second_factor_required')
    expect((await login('000000')).body.error).toBe('invalid_code')
    expect((await login(codeAt(current()))).status).toBe(200)

    // An invitation to another organization, whose link somebody else may hold.
    const stranger = await it.openStranger()
    it.mail.mails.length = 0
    const invited = await it.done(stranger.key, 'POST /api/v1/organization/user/create', {
      email,
      role: 'member',
    })
    const token = await it.invitationToken(invited)
    const accept = (code?: string) =>
      it.ask(nobody, `POST /dashboard/invitation/${token}`, {
        password,
        ...(code && { code }),
      })
    const refused = [await accept(), await accept('000000')]
    expect(refused.map(({ status, body }) => [status, body.error])).toEqual([
      [401, 'second_factor_required'],
      [401, 'invalid_code'],
    ])
    for (const { headers } of refused) expect(headers.getSetCookie()).toEqual([])
    expect((await accept(recoveryCodes[0])).status).toBe(200)

    // A new password by mail makes no session, and leaves the second factor as it is.
    await it.ask(nobody, 'POST /dashboard/password-reset', { email })
    const { text } = await it.mail.mailTo(email, '/reset-password/')
    const resetToken = /\/reset-password\/([\w-]{43})/.exec(text)![1]!
    const fresh = 'a fresh long password'
    const reset = await it.ask(nobody, `POST /dashboard/password-reset/${resetToken}`, {
      password: fresh,
    })
    expect([reset.status, reset.body, reset.headers.getSetCookie()]).toEqual([
      200,
      { session: null },
      [],
    ])
    expect((await signIn(email, undefined, fresh)).body.error).toBe('second_factor_required')
  })

  test('is asked for by a change of the password', async () => {
    const { session, email, recoveryCodes } = await withTwoFactor()
    const fresh = 'a fresh long password'
    const change = (code?: string) =>
      it.ask(session, 'PUT /dashboard/password', {
        current_password: password,
        new_password: fresh,
        ...(code && { code }),
      })
    const refused = [await change(), await change('000000')]
    expect(refused.map(({ status, body }) => [status, body.error])).toEqual([
      [401, 'second_factor_required'],
      [401, 'invalid_code'],
    ])
    expect((await signIn(email, undefined, fresh)).body.error).toBe('invalid_credentials')
    expect((await change(recoveryCodes[0])).status).toBe(204)
    expect((await signIn(email, undefined, fresh)).body.error).toBe('second_factor_required')
  })

  test('is turned off with password and code, and by the operator', async () => {
    const { email, session, recoveryCodes } = await withTwoFactor()
    const end = (current_password: string, code: string) =>
      it.ask(session, 'DELETE /dashboard/two-factor', { current_password, code })
    expect((await end('not the password', recoveryCodes[0]!)).status).toBe(400)
    expect((await end(password, '000000')).body.error).toBe('invalid_code')
    expect((await end(password, recoveryCodes[0]!)).status).toBe(204)
    expect((await signIn(email)).status).toBe(200)

    const other = await withTwoFactor()
    await disableTwoFactor(it.postgres, other.email)
    expect((await signIn(other.email)).status).toBe(200)
  })

  test('keeps its secret sealed and its recovery codes as hashes', async () => {
    const { secret, recoveryCodes } = await withTwoFactor()
    const { rows } = await it.postgres.query(
      `SELECT second_factors::text AS row FROM second_factors UNION ALL SELECT recovery_codes::text FROM recovery_codes`,
    )
    const kept = rows.map(({ row }) => row).join('\n')
    expect(kept).toContain('v1.')
    for (const part of [
      secret,
      fromBase32(secret).toString('base64'),
      fromBase32(secret).toString('hex'),
    ]) {
      expect(kept).not.toContain(part)
    }
    for (const code of recoveryCodes) {
      expect(kept).not.toContain(code)
      expect(kept).not.toContain(Buffer.from(code.replaceAll('-', '')).toString('hex'))
    }
  })
})

describe('the audit log has', () => {
  const entriesOf = async (memberId: string) =>
    (await it.done(it.owner, 'GET /dashboard/audit?limit=200')).entries
      .filter(({ action, object_id }: Json) => /sign_in/.test(action) && object_id === memberId)
      .map(({ action, actor, details }: Json) => {
        expect(actor).toMatchObject({ kind: 'member', id: memberId })
        expect(details.address).toMatch(/^10\./)
        const { address, ...others } = details
        return [action, others]
      })
  const failed = ['member.sign_in_failed', { reason: 'password' }]

  test('sign-ins, wrong passwords and wrong codes of users, and no unknown address', async () => {
    const { email, memberId, recoveryCodes } = await withTwoFactor()
    const stranger = `${randomUUID()}@example.com`
    await signIn(stranger)
    await signIn(email, undefined, 'not the password')
    await expect.poll(() => entriesOf(memberId)).toEqual([failed])
    // The password without the code is the first half of a sign-in.
    await signIn(email)
    await signIn(email, '000000')
    await signIn(email, recoveryCodes[0])
    await it.done({ 'x-forwarded-for': randomAddress() }, 'POST /auth/v1/login', {
      email,
      password,
      code: recoveryCodes[1],
    })
    const success = ['member.sign_in', { by: 'password' }]
    expect(await entriesOf(memberId)).toEqual([
      success,
      success,
      ['member.sign_in_failed', { reason: 'code' }],
      failed,
    ])
    const { rows } = await it.postgres.query('SELECT audit_log::text AS row FROM audit_log')
    expect(JSON.stringify(rows)).not.toContain(stranger)
  })

  test('at most ten failed sign-ins of a user at once', async () => {
    const { email, memberId } = await it.join('member')
    await Promise.all(
      Array.from({ length: 14 }, () => signIn(email, undefined, 'not the password')),
    )
    await expect.poll(async () => (await entriesOf(memberId)).length).toBe(10)
    await signIn(email)
    expect((await entriesOf(memberId)).slice(0, 2)).toEqual([
      ['member.sign_in', { by: 'password' }],
      failed,
    ])
    expect(await entriesOf(memberId)).toHaveLength(11)
  })

  test('a sign-in by an invitation in the other organizations of the user', async () => {
    const { email, memberId } = await it.join('member')
    const stranger = await it.openStranger()
    it.mail.mails.length = 0
    const invited = await it.done(stranger.key, 'POST /api/v1/organization/user/create', {
      email,
      role: 'member',
    })
    const accept = `POST /dashboard/invitation/${await it.invitationToken(invited)}`
    const caller = { 'x-forwarded-for': randomAddress() }
    await it.ask(caller, accept, { password: 'not the password' })
    await expect.poll(() => entriesOf(memberId)).toEqual([failed])
    await it.done(caller, accept, { password })
    expect(await entriesOf(memberId)).toEqual([['member.sign_in', { by: 'password' }], failed])
  })
})

describe('an invitation', () => {
  test('is mailed, again when it is renewed, and only the newest link is good', async () => {
    const email = `${randomUUID()}@example.com`
    const invited = await it.done(it.owner, 'POST /api/v1/organization/user/create', {
      email,
      role: 'member',
    })
    expect(invited).toMatchObject({ by_mail: true, invitation_url: null })
    const first = await it.invitationToken(invited)
    expect((await it.mail.mailTo(email)).text).toContain('Demo organization')
    // Anybody may name an organization, and invite anybody.
    const rename = (name: string) => it.done(it.owner, 'PUT /api/v1/organization', { name })
    await rename('Win at www.evil.example')
    const other = `${randomUUID()}@example.com`
    const payload = { email: other, role: 'member' }
    await it.done(it.owner, 'POST /api/v1/organization/user/create', payload)
    const { text } = await it.mail.mailTo(other)
    expect(text).toContain(`An organization invites ${other}`)
    expect(text).not.toContain('evil')
    await rename('Demo organization')
    it.mail.mails.length = 0
    const renewed = await it.done(it.owner, 'PUT /api/v1/organization/user/update', {
      member_id: invited.member.member_id,
      renew_invitation: true,
    })
    expect(renewed).toMatchObject({ by_mail: true, invitation_url: null })
    const second = await it.invitationToken(renewed)
    const accept = (token: string) =>
      it.ask(nobody, `POST /dashboard/invitation/${token}`, { name: 'New', password })
    expect([(await accept(first)).status, (await accept(second)).status]).toEqual([404, 200])
    // A change of the name alone mails nothing.
    const { body } = await it.ask(it.owner, 'PUT /api/v1/organization/user/update', {
      member_id: invited.member.member_id,
      name: 'Newer',
    })
    expect(Object.keys(body)).toEqual(['member'])
  })
})

describe('sessions', () => {
  test('are listed with browser and address, and ended one by one or all but one', async () => {
    const { email } = await it.join('member')
    const from = async (userAgent: string) =>
      it.sessionOf(
        await it.ask(
          { 'user-agent': userAgent, 'x-forwarded-for': '10.1.2.3' },
          ...(['POST /dashboard/session', { email, password }] as const),
        ),
      )
    const firefox = await from(
      'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    )
    const safari = await from(
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
    )
    const list = async (caller: Caller) =>
      (await it.done(caller, 'GET /dashboard/sessions')).sessions
    const found = await list(safari)
    // The third is the one that accepted the invitation.
    expect(found).toHaveLength(3)
    expect(found[0]).toMatchObject({ is_current: true, browser: 'Safari', address: '10.1.2.3' })
    const other = found.find(({ browser }: { browser: string }) => browser === 'Firefox')
    expect(other).toMatchObject({ is_current: false, os: 'Linux' })

    const stranger = await it.join('owner')
    const end = (caller: Caller) => it.ask(caller, `DELETE /dashboard/sessions/${other.session_id}`)
    expect((await end(stranger.session)).status).toBe(404)
    expect((await end(safari)).status).toBe(204)
    await waitFor(
      'the end',
      async () => (await it.ask(firefox, 'GET /dashboard/session')).status === 401,
    )
    expect(await it.done(safari, 'DELETE /dashboard/sessions')).toEqual({ ended: 1 })
    expect(await list(safari)).toHaveLength(1)
  })
})

describe('name and e-mail address', () => {
  test('one’s name is changed in all organizations', async () => {
    const { session, email } = await it.join('member')
    const stranger = await it.openStranger()
    it.mail.mails.length = 0
    const invited = await it.done(stranger.key, 'POST /api/v1/organization/user/create', {
      email,
      role: 'member',
    })
    await it.done(session, `POST /dashboard/invitation/${await it.invitationToken(invited)}`, {})
    expect(
      await it.done(session, 'PUT /dashboard/account', { name: 'Grace Hopper' }),
    ).toMatchObject({
      name: 'Grace Hopper',
      email,
      by_mail: true,
    })
    const { rows } = await it.postgres.query('SELECT name FROM members WHERE email = $1', [email])
    expect(rows).toEqual([{ name: 'Grace Hopper' }, { name: 'Grace Hopper' }])
  })

  const change = (session: Caller, email: string, more: object = {}) =>
    it.ask(session, 'POST /dashboard/email-change', { email, current_password: password, ...more })
  const linkTo = async (email: string) =>
    `POST /dashboard/email-change/${/\/email-change\/([\w-]{43})/.exec((await it.mail.mailTo(email, '/email-change/')).text)![1]}`

  test('another address counts once its link was followed, and the one before is told', async () => {
    const { session, email } = await it.join('member')
    const fresh = `${randomUUID()}@example.com`
    expect((await change(session, fresh, { current_password: 'not the password' })).status).toBe(
      400,
    )
    expect((await change(session, fresh.toUpperCase())).status).toBe(202)
    const link = await linkTo(fresh)
    expect((await signIn(fresh)).status).toBe(401)
    const stranger = await it.join('member')
    expect((await it.ask(nobody, link)).status).toBe(401)
    expect((await it.ask(stranger.session, link)).status).toBe(404)
    const uses = await Promise.all([it.ask(session, link), it.ask(session, link)])
    expect(uses.map(({ status }) => status).sort()).toEqual([200, 404])
    expect([(await signIn(email)).status, (await signIn(fresh)).status]).toEqual([401, 200])
    for (const address of [email, fresh]) {
      expect((await it.mail.mailTo(address, 'was changed')).text).toContain(fresh)
    }
    const members = (await it.done(it.owner, 'GET /api/v1/organization/user/list?limit=200'))
      .members
    expect(members.map((member: { email: string }) => member.email)).toContain(fresh)
  })

  test('an address that somebody signs in with is answered the same, and never taken over', async () => {
    const [one, other] = [await it.join('member'), await it.join('member')]
    const answer = await change(one.session, other.email)
    expect([answer.status, answer.body]).toEqual([202, { email: other.email }])
    // Free when the link was made, taken when it is followed.
    const fresh = `${randomUUID()}@example.com`
    expect((await change(one.session, fresh)).status).toBe(202)
    const link = await linkTo(fresh)
    expect(
      it.mail.mails.some(
        ({ to, text }) => to.includes(other.email) && text.includes('/email-change/'),
      ),
    ).toBe(false)
    await it.postgres.query('UPDATE users SET email = $2 WHERE email = $1', [other.email, fresh])
    expect((await it.ask(one.session, link)).status).toBe(404)
    expect((await signIn(one.email)).status).toBe(200)
  })

  test('a link is good for an hour', async () => {
    const { session, email } = await it.join('member')
    const fresh = `${randomUUID()}@example.com`
    expect((await change(session, fresh)).status).toBe(202)
    const link = await linkTo(fresh)
    const show = link.replace('POST', 'GET')
    expect((await it.ask(nobody, show)).body).toEqual({ email: fresh })
    await it.postgres.query(
      "UPDATE email_changes SET expires_at = expires_at - interval '1 hour' WHERE email = $1",
      [fresh],
    )
    expect((await it.ask(nobody, show)).status).toBe(404)
    expect((await it.ask(session, link)).status).toBe(404)
    expect((await signIn(email)).status).toBe(200)
  })

  test('takes a code where two-factor authentication is on', async () => {
    const { session, recoveryCodes } = await withTwoFactor()
    const fresh = `${randomUUID()}@example.com`
    expect((await change(session, fresh)).body.error).toBe('second_factor_required')
    expect((await change(session, fresh, { code: recoveryCodes[0] })).status).toBe(202)
  })

  test('is limited: five links an hour', async () => {
    const { session } = await it.join('member')
    const statuses: number[] = []
    for (let n = 0; n < 7; n++)
      statuses.push((await change(session, `${randomUUID()}@example.com`)).status)
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429, 429])
  })
})
