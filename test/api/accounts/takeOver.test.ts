/** An attacker who had an account before its owner proved the address loses all access. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stepAt } from '../../../collector/accounts/credentials/totp.ts'
import { newPasswordResetLink } from '../../../collector/accounts/sessions/passwordReset.ts'
import { sha256 } from '../../../collector/api/access/authenticate.ts'
import { fromBase32 } from '../../harness/base32.ts'
import { codeOf } from '../../harness/totp.ts'
import { type Accounts, type Caller, nobody, openAccounts, password } from './harness.ts'

let it: Accounts
let withoutMail: Accounts
beforeAll(async () => {
  it = await openAccounts({ sendsMail: true })
  withoutMail = await openAccounts()
})
afterAll(() => Promise.all([it.close(), withoutMail.close()]))

const fresh = 'a completely new password'

/** Requests a change to an attacker's address and returns the route that its mailed link confirms. */
async function requestChange(session: Caller): Promise<string> {
  const email = `${randomUUID()}@attacker.example`
  await it.done(session, 'POST /dashboard/email-change', { email, current_password: password })
  const { text } = await it.mail.mailTo(email, '/email-change/')
  return `/dashboard/email-change/${/\/email-change\/([\w-]{43})/.exec(text)![1]}`
}

async function resetPassword(accounts: Accounts, email: string): Promise<void> {
  const link = await newPasswordResetLink(accounts.postgres, email, 60, accounts.url)
  await accounts.done(nobody, `POST /dashboard/password-reset/${link!.split('/').at(-1)}`, {
    password: fresh,
  })
}

/** Leaves no try to sign in by this address, except to known browsers. */
const useUpTries = (email: string) =>
  it.postgres.query(
    `INSERT INTO rate_limits VALUES ($1, extract(epoch FROM now()) + 100 * 30 + 25)
     ON CONFLICT (bucket) DO UPDATE SET arrival = excluded.arrival`,
    [`sign_in_email:${sha256(email).toString('base64url')}`],
  )

/** Turns on a second factor. */
async function addFactor(accounts: Accounts, session: Caller): Promise<void> {
  const begun = await accounts.done(session, 'POST /dashboard/two-factor', {
    current_password: password,
  })
  const code = codeOf(fromBase32(begun.secret), stepAt(Date.now()))
  await accounts.done(session, 'PUT /dashboard/two-factor', { code })
}

describe('a pending change of the e-mail address', () => {
  test('needs a session of the user', async () => {
    const { session } = await it.join('member')
    const path = await requestChange(session)
    expect((await it.ask(nobody, `POST ${path}`)).status).toBe(401)
  })

  const endings: Record<string, (someone: { email: string; session: Caller }) => Promise<unknown>> =
    {
      'a password reset': ({ email }) => resetPassword(it, email),
      'a password change': ({ session }) =>
        it.done(session, 'PUT /dashboard/password', {
          current_password: password,
          new_password: fresh,
        }),
      'the end of all other sessions': ({ session }) =>
        it.done(session, 'DELETE /dashboard/sessions'),
    }
  test.each(Object.entries(endings))('ends with %s', async (_, end) => {
    const someone = await it.join('member')
    const path = await requestChange(someone.session)
    const reset = await newPasswordResetLink(it.postgres, someone.email, 60, it.url)
    const resetPath = `/dashboard/password-reset/${reset!.split('/').at(-1)}`
    await end(someone)
    expect((await it.ask(nobody, `GET ${path}`)).status).toBe(404)
    expect((await it.ask(nobody, `GET ${resetPath}`)).status).toBe(404)
    const { rows } = await it.postgres.query('SELECT FROM users WHERE email = $1', [someone.email])
    expect(rows).toHaveLength(1)
  })
})

describe('an invitation', () => {
  test('that was mailed is never in the answer', async () => {
    const email = `${randomUUID()}@example.com`
    const create = 'POST /api/v1/organization/user/create'
    const invited = await it.done(it.owner, create, { email, role: 'member' })
    expect(invited).toMatchObject({ by_mail: true, invitation_url: null })
    expect(JSON.stringify(invited)).not.toContain('/invitation/')
  })

  test('whose link was shown makes no account once the service sends mail', async () => {
    const email = `${randomUUID()}@example.com`
    const create = 'POST /api/v1/organization/user/create'
    // As an invitation from before SMTP_URL was set: both apps have the same stores.
    const shown = await withoutMail.done(withoutMail.owner, create, { email, role: 'member' })
    const accept = { name: 'Attacker', password }
    const token = shown.invitation_url.split('/').at(-1)
    const refused = await it.ask(nobody, `POST /dashboard/invitation/${token}`, accept)
    expect([refused.status, refused.body.error]).toEqual([409, 'conflict'])
    expect(
      (await withoutMail.ask(nobody, `POST /dashboard/invitation/${token}`, accept)).status,
    ).toBe(200)
  })
})

describe('a second factor', () => {
  test('from before the address was proven is removed by a reset', async () => {
    const { email, session } = await withoutMail.join('member')
    await addFactor(withoutMail, session)
    await resetPassword(withoutMail, email)
    const signedIn = await withoutMail.ask(nobody, 'POST /dashboard/session', {
      email,
      password: fresh,
    })
    expect(signedIn.status).toBe(200)
    // Now that the address is proven, a factor stays with the next reset.
    const owner = withoutMail.sessionOf(signedIn)
    const begun = await withoutMail.done(owner, 'POST /dashboard/two-factor', {
      current_password: fresh,
    })
    const code = codeOf(fromBase32(begun.secret), stepAt(Date.now()))
    await withoutMail.done(owner, 'PUT /dashboard/two-factor', { code })
    await resetPassword(withoutMail, email)
    const again = await withoutMail.ask(nobody, 'POST /dashboard/session', {
      email,
      password: fresh,
    })
    expect([again.status, again.body.error]).toEqual([401, 'second_factor_required'])
  })
})

describe('a browser that signed in', () => {
  const endings: Record<string, (someone: { email: string; session: Caller }) => Promise<unknown>> =
    {
      'a password reset': ({ email }) => resetPassword(it, email),
      'the end of all other sessions': ({ session }) =>
        it.done(session, 'DELETE /dashboard/sessions'),
      'the start of two-factor authentication': ({ session }) => addFactor(it, session),
    }
  test.each(Object.entries(endings))('before %s has no tries of its own', async (_, end) => {
    const someone = await it.join('member')
    const signIn = (cookie: string) =>
      it.ask({ cookie }, 'POST /dashboard/session', { email: someone.email, password: 'wrong' })
    const first = await it.ask(nobody, 'POST /dashboard/session', {
      email: someone.email,
      password,
    })
    const cookie = first.headers.getSetCookie().find((one) => one.startsWith('footfall_browser='))!
    const known = cookie.split(';')[0]!
    // The cookie has the second of the sign-in.
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    await end(someone)
    await useUpTries(someone.email)
    expect((await signIn(known)).status).toBe(429)
  })

  test('keeps its tries where its user changes the password', async () => {
    const { email, session } = await it.join('member')
    const change = { current_password: password, new_password: fresh }
    const changed = await it.ask(session, 'PUT /dashboard/password', change)
    const cookie = changed.headers.getSetCookie()[0]!.split(';')[0]!
    await useUpTries(email)
    const credentials = { email, password: fresh }
    expect((await it.ask(nobody, 'POST /dashboard/session', credentials)).status).toBe(429)
    expect((await it.ask({ cookie }, 'POST /dashboard/session', credentials)).status).toBe(200)
  })
})

describe('a mail to the address reports', () => {
  test('a reset and a change of the password, and the end of two-factor authentication', async () => {
    const { email, session } = await it.join('member')
    await addFactor(it, session)
    // An account from before addresses were proven.
    await it.postgres.query('UPDATE users SET email_proven_at = NULL WHERE email = $1', [email])
    await resetPassword(it, email)
    const { text } = await it.mail.mailTo(email, 'password for Footfall was reset')
    expect(text).toContain('two-factor authentication was turned off')
    const change = { current_password: fresh, new_password: password }
    await it.done(await it.signIn(email, fresh), 'PUT /dashboard/password', change)
    await it.mail.mailTo(email, 'password for Footfall was changed')
  })
})
