import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sha256 } from '../../../collector/api/access/authenticate.ts'
import { waitFor } from '../../harness/service.ts'
import { type Accounts, type Answer, nobody, openAccounts, password } from './harness.ts'

let it: Accounts
beforeAll(async () => {
  it = await openAccounts({ apps: 2, env: { FOOTFALL_TRUSTED_PROXIES: '127.0.0.1' } })
})
afterAll(() => it.close())

/** From its own address by default. */
const signInAs = (email: string, withPassword: string, address = randomAddress()) =>
  it.ask({ 'x-forwarded-for': address }, 'POST /dashboard/session', {
    email,
    password: withPassword,
  })

const randomAddress = () => `10.${[0, 0, 0].map(() => Math.floor(Math.random() * 256)).join('.')}`

const cookieOf = ({ headers }: Answer) => headers.getSetCookie()[0]!

describe('sign-in', () => {
  test('answers who that is, with a cookie that no script and no other site has', async () => {
    const someone = await it.join('admin')
    const answer = await signInAs(someone.email.toUpperCase(), password)
    expect(answer.status).toBe(200)
    const signedIn = {
      member: {
        member_id: someone.memberId,
        email: someone.email,
        name: 'Somebody',
        role: 'admin',
      },
      organization: { organization_id: it.demo.organization_id, name: 'Demo organization' },
      organizations: [{ organization_id: it.demo.organization_id, name: 'Demo organization' }],
    }
    expect(answer.body).toEqual(signedIn)
    expect(cookieOf(answer)).toMatch(
      /^footfall_session=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    expect(await it.done(it.sessionOf(answer), 'GET /dashboard/session')).toEqual(signedIn)
  })

  test('keeps of a session only its hash', async () => {
    const { email } = await it.join('member')
    const session = cookieOf(await signInAs(email, password)).split(/[=;]/)[1]!
    const { rows } = await it.postgres.query(
      `SELECT expires_at > now() + interval '29 days' AS is_long FROM sessions WHERE session_sha256 = $1`,
      [sha256(session)],
    )
    expect(rows).toEqual([{ is_long: true }])
    const { rows: all } = await it.postgres.query('SELECT sessions::text AS row FROM sessions')
    expect(all.filter(({ row }) => row.includes(session))).toEqual([])
  })

  test('a wrong password, an unknown address and an invited member answer alike', async () => {
    const invited = `${randomUUID()}@example.com`
    await it.done(it.owner, 'POST /api/v1/organization/user/create', {
      email: invited,
      role: 'member',
    })
    const answers = [
      await signInAs(it.demo.admin_email, 'not the password'),
      await signInAs(`${randomUUID()}@example.com`, 'not the password'),
      await signInAs(invited, 'not the password'),
      await signInAs('no address at all', 'not the password'),
    ]
    for (const { status, body, headers } of answers) {
      expect({ status, body: { ...body, request_id: 0 } }).toEqual({
        status: 401,
        body: { ...answers[0]!.body, request_id: 0 },
      })
      expect(headers.getSetCookie()).toEqual([])
    }
    expect(answers[0]!.body.error).toBe('invalid_credentials')
  })

  test('an unknown address takes as long as a wrong password', async () => {
    const someone = await it.join('member')
    const times = { known: [] as number[], unknown: [] as number[] }
    // Turn by turn, so that what else the machine does slows both; the quickest are those that it left alone.
    for (let n = 0; n < 9; n++) {
      for (const [who, email] of [
        ['known', someone.email],
        ['unknown', `${randomUUID()}@example.com`],
      ] as const) {
        const from = performance.now()
        expect((await signInAs(email, 'not the password')).status).toBe(401)
        times[who].push(performance.now() - from)
      }
    }
    const [known, unknown] = [times.known, times.unknown].map((each) => Math.min(...each))
    // Without the dummy check the unknown address is answered ten times faster.
    expect(unknown! / known!).toBeGreaterThan(0.3)
    expect(unknown! / known!).toBeLessThan(3.3)
  })

  test('ends with 429 after ten wrong passwords from an address, in all processes together, and then the right one waits too', async () => {
    const someone = await it.join('member')
    const address = randomAddress()
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => signInAs(someone.email, 'wrong', address)),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 401)).toHaveLength(10)
    expect(statuses.filter((status) => status === 429)).toHaveLength(20)
    const refused = await signInAs(someone.email, password, address)
    expect([refused.status, refused.body.error]).toEqual([429, 'rate_limited'])
    const seconds = Number(refused.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(30)
    // The token route is no way around it, and others sign in as ever, from there too.
    const login = await it.ask({ 'x-forwarded-for': address }, 'POST /auth/v1/login', {
      email: someone.email,
      password,
    })
    expect(login.status).toBe(429)
    expect((await signInAs(it.demo.admin_email, it.demo.admin_password, address)).status).toBe(200)
  })

  test('of a victim whom somebody else’s tries use up goes on from elsewhere, and from their known browser', async () => {
    const someone = await it.join('member')
    const attacker = randomAddress()
    for (let n = 0; n < 12; n++) await signInAs(someone.email, 'wrong', attacker)
    expect((await signInAs(someone.email, password, attacker)).status).toBe(429)
    expect((await signInAs(someone.email, password)).status).toBe(200)

    // Tries from everywhere: only who has signed in before is let by.
    const first = await signInAs(someone.email, password)
    const browser = first.headers
      .getSetCookie()
      .find((cookie) => cookie.startsWith('footfall_browser='))!
    expect(browser).toMatch(/Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/)
    const cookie = browser.split(';')[0]!
    await it.postgres.query(
      `INSERT INTO rate_limits VALUES ($1, extract(epoch FROM now()) + 100 * 30 + 25)
       ON CONFLICT (bucket) DO UPDATE SET arrival = excluded.arrival`,
      [`sign_in_email:${sha256(someone.email).toString('base64url')}`],
    )
    expect((await signInAs(someone.email, password)).status).toBe(429)
    const known = { cookie, 'x-forwarded-for': attacker }
    const credentials = { email: someone.email, password }
    expect((await it.ask(known, 'POST /dashboard/session', credentials)).status).toBe(200)
    // The cookie serves for this name alone, as it was signed, and its own tries are counted.
    const other = await it.join('member')
    for (const [cookieSent, email] of [
      [cookie.slice(0, -2) + (cookie.endsWith('A') ? 'BB' : 'AA'), someone.email],
      [cookie, other.email],
    ] as const) {
      await it.postgres.query(
        `INSERT INTO rate_limits VALUES ($1, extract(epoch FROM now()) + 100 * 30 + 25)
         ON CONFLICT (bucket) DO UPDATE SET arrival = excluded.arrival`,
        [`sign_in_email:${sha256(email).toString('base64url')}`],
      )
      const answer = await it.ask(
        { cookie: cookieSent, 'x-forwarded-for': randomAddress() },
        'POST /dashboard/session',
        { email, password },
      )
      expect(answer.status).toBe(429)
    }
    const guesses = await Promise.all(
      Array.from({ length: 15 }, () =>
        it.ask(known, 'POST /dashboard/session', { email: someone.email, password: 'wrong' }),
      ),
    )
    expect(guesses.filter(({ status }) => status === 401)).toHaveLength(10)
  })

  test('counts an IPv6 network of /64 as one address', async () => {
    const someone = await it.join('member')
    const network = `2001:db8:${Math.floor(Math.random() * 65_536).toString(16)}:1`
    const answers = []
    for (let n = 1; n <= 12; n++)
      answers.push(await signInAs(someone.email, 'wrong', `${network}::${n}`))
    expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(401), 429, 429])
  })

  test('ends with 429 for an address that tries fifty names, and for no other address', async () => {
    const address = randomAddress()
    const answers = await Promise.all(
      Array.from({ length: 70 }, () => signInAs(`${randomUUID()}@example.com`, 'wrong', address)),
    )
    const tried = answers.filter(({ status }) => status === 401).length
    expect(tried).toBeGreaterThanOrEqual(50)
    // A try comes back each second, while the passwords are checked one after the other.
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(70 - tried)
    expect(tried).toBeLessThan(70)
    expect((await signInAs(it.demo.admin_email, it.demo.admin_password)).status).toBe(200)
  })

  test('with the right password gives all tries back', async () => {
    const someone = await it.join('member')
    for (let round = 0; round < 3; round++) {
      for (let n = 0; n < 9; n++) expect((await signInAs(someone.email, 'wrong')).status).toBe(401)
      expect((await signInAs(someone.email, password)).status).toBe(200)
    }
  })

  test('with the right password gives no tries of others for the same name back', async () => {
    const someone = await it.join('member')
    // Two of the hundred tries for the name are left, from wherever they come.
    await it.postgres.query(
      `INSERT INTO rate_limits VALUES ($1, extract(epoch FROM now()) + 98 * 30)
       ON CONFLICT (bucket) DO UPDATE SET arrival = excluded.arrival`,
      [`sign_in_email:${sha256(someone.email).toString('base64url')}`],
    )
    const statuses: number[] = []
    for (let n = 0; n < 4; n++) statuses.push((await signInAs(someone.email, password)).status)
    expect(statuses).toEqual([200, 200, 429, 429])
  })
})

describe('a session', () => {
  test('ends when its member signs out, and the cookie goes', async () => {
    const { session } = await it.join('member')
    const answer = await it.ask(session, 'DELETE /dashboard/session')
    expect(answer.status).toBe(204)
    expect(cookieOf(answer)).toMatch(
      /^footfall_session=; Max-Age=0; Path=\/; HttpOnly; SameSite=Lax$/,
    )
    const after = await waitFor('the end', async () => {
      const asked = await it.ask(session, 'GET /dashboard/session')
      return asked.status === 200 ? null : asked
    })
    expect([after.status, after.body.error]).toEqual([401, 'unauthenticated'])
  })

  test('ends when its time is over, and when its member is removed', async () => {
    const [late, removed] = [await it.join('member'), await it.join('member')]
    await it.postgres.query(
      `UPDATE sessions SET expires_at = now() - interval '1 second'
       WHERE user_id = (SELECT user_id FROM members WHERE member_id = $1)`,
      [late.memberId],
    )
    const gone = { member_id: removed.memberId }
    await it.done(it.owner, 'DELETE /api/v1/organization/user/delete', gone)
    for (const { session } of [late, removed]) {
      await waitFor(
        'the end',
        async () => (await it.ask(session, 'GET /dashboard/session')).status === 401,
      )
      await waitFor(
        'the end',
        async () => (await it.ask(session, 'GET /api/v1/whoami')).status === 401,
      )
    }
  })

  test('changes nothing for a page of another origin', async () => {
    const change = { name: 'Stolen' }
    for (const origin of ['https://evil.example', 'null', `${it.url}.evil.example`]) {
      const answer = await it.ask({ ...it.owner, origin }, 'PUT /api/v1/organization', change)
      expect([answer.status, answer.body.error]).toEqual([403, 'cross_origin'])
    }
    const { organization } = await it.done(it.owner, 'GET /api/v1/organization')
    expect(organization.name).not.toBe('Stolen')
  })

  test('is sent over https only when the service is reached by https', async () => {
    const secure = await openAccounts({
      env: { FOOTFALL_PUBLIC_URL: 'https://collector.example' },
    })
    try {
      const { admin_email: email, admin_password } = secure.demo
      const answer = await secure.ask(nobody, 'POST /dashboard/session', {
        email,
        password: admin_password,
      })
      expect(cookieOf(answer)).toMatch(/; Secure/)
    } finally {
      await secure.close()
    }
  })
})

describe('an invitation', () => {
  const invite = async () => {
    const email = `${randomUUID()}@example.com`
    const { member, invitation_url } = await it.done(
      it.owner,
      'POST /api/v1/organization/user/create',
      {
        email,
        role: 'member',
      },
    )
    return { email, memberId: member.member_id, token: invitation_url.split('/').at(-1) as string }
  }
  const accept = { name: 'New Name', password }

  test('says whom it is for, is accepted once, and signs them in', async () => {
    const { email, memberId, token } = await invite()
    expect(await it.done(nobody, `GET /dashboard/invitation/${token}`)).toEqual({
      email,
      organization: { name: 'Demo organization' },
    })
    const answer = await it.ask(nobody, `POST /dashboard/invitation/${token}`, accept)
    expect(answer).toMatchObject({
      status: 200,
      body: { member: { member_id: memberId, email, name: 'New Name', role: 'member' } },
    })
    const { member } = await it.done(it.owner, `GET /api/v1/organization/user/retrieve/${memberId}`)
    expect(member).toMatchObject({ status: 'active', name: 'New Name' })
    expect((await it.done(it.sessionOf(answer), 'GET /dashboard/session')).member.email).toBe(email)
    expect((await signInAs(email, password)).status).toBe(200)
    for (const [method, body] of [
      ['GET', undefined],
      ['POST', accept],
    ] as const) {
      const again = await it.ask(nobody, `${method} /dashboard/invitation/${token}`, body)
      expect([again.status, again.body.error]).toEqual([404, 'invitation not found'])
    }
  })

  test('accepted twice at once makes one member sign up', async () => {
    const { token } = await invite()
    const answers = await Promise.all(
      ['One', 'Two'].map((name) =>
        it.ask(nobody, `POST /dashboard/invitation/${token}`, { ...accept, name }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404])
  })

  test('is good for seven days', async () => {
    const { memberId, token } = await invite()
    const { rows } = await it.postgres.query(
      'SELECT extract(epoch FROM invitation_expires_at - now()) / 86400 AS days FROM members WHERE member_id = $1',
      [memberId],
    )
    expect(Number(rows[0].days)).toBeCloseTo(7, 2)
    await it.postgres.query(
      'UPDATE members SET invitation_expires_at = now() WHERE member_id = $1',
      [memberId],
    )
    for (const [method, body] of [
      ['GET', undefined],
      ['POST', accept],
    ] as const) {
      const late = await it.ask(nobody, `${method} /dashboard/invitation/${token}`, body)
      expect([late.status, late.body.error]).toEqual([404, 'invitation not found'])
    }
  })

  test('renewed, is good again under a new address alone', async () => {
    const { memberId, token } = await invite()
    const renew = { member_id: memberId, renew_invitation: true }
    const { member, invitation_url } = await it.done(
      it.owner,
      'PUT /api/v1/organization/user/update',
      renew,
    )
    expect(member.status).toBe('invited')
    expect((await it.ask(nobody, `GET /dashboard/invitation/${token}`)).status).toBe(404)
    const renewed = invitation_url.split('/').at(-1)
    expect((await it.ask(nobody, `POST /dashboard/invitation/${renewed}`, accept)).status).toBe(200)
    const late = await it.ask(it.owner, 'PUT /api/v1/organization/user/update', renew)
    expect(late).toMatchObject({
      status: 409,
      body: { error: 'conflict', member: { member_id: memberId } },
    })
  })
})

describe('the own password', () => {
  test('is changed by who knows it, and ends the other sessions', async () => {
    const someone = await it.join('member')
    const other = await it.signIn(someone.email, password)
    const change = { current_password: password, new_password: 'another long password' }
    const wrong = await it.ask(someone.session, 'PUT /dashboard/password', {
      ...change,
      current_password: 'not it',
    })
    expect(wrong).toMatchObject({ status: 400, body: { parameter: 'current_password' } })
    expect((await it.ask(other, 'GET /dashboard/session')).status).toBe(200)

    expect((await it.ask(someone.session, 'PUT /dashboard/password', change)).status).toBe(204)
    expect((await signInAs(someone.email, password)).status).toBe(401)
    expect((await signInAs(someone.email, 'another long password')).status).toBe(200)
    expect((await it.ask(someone.session, 'GET /dashboard/session')).status).toBe(200)
    await waitFor(
      'the end',
      async () => (await it.ask(other, 'GET /dashboard/session')).status === 401,
    )
  })

  test('is the same however its characters are composed', async () => {
    const someone = await it.join('member')
    const change = { current_password: password, new_password: 'caf\u00e9 caf\u00e9 caf\u00e9' }
    expect((await it.ask(someone.session, 'PUT /dashboard/password', change)).status).toBe(204)
    expect((await signInAs(someone.email, 'cafe\u0301 cafe\u0301 cafe\u0301')).status).toBe(200)
  })

  test('cannot be guessed through a stolen session', async () => {
    const someone = await it.join('member')
    const guess = { current_password: 'guess', new_password: 'another long password' }
    const answers = await Promise.all(
      Array.from({ length: 15 }, () => it.ask(someone.session, 'PUT /dashboard/password', guess)),
    )
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(10)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(5)
  })

  test('is kept as argon2id', async () => {
    const { rows } = await it.postgres.query(
      // Users of a provider have none.
      `SELECT password_hash FROM users WHERE email NOT LIKE '%@sample.invalid' AND password_hash <> '!'`,
    )
    expect(rows.length).toBeGreaterThan(0)
    for (const { password_hash } of rows) {
      expect(password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    }
  })
})

describe('POST /auth/v1/login', () => {
  test('gives a token that serves where keys do, and says that it is deprecated', async () => {
    const someone = await it.join('admin')
    const { status, body, headers } = await it.ask(nobody, 'POST /auth/v1/login', {
      email: someone.email,
      password,
    })
    expect(status).toBe(200)
    expect(headers.get('deprecation')).toMatch(/^@\d+$/)
    expect(body).toEqual({
      token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      token_type: 'Bearer',
      expires_in: 3600,
    })
    const { iat, exp } = JSON.parse(Buffer.from(body.token.split('.')[1], 'base64url').toString())
    expect(exp - iat).toBe(3600)
    const whoami = await it.done({ authorization: `Bearer ${body.token}` }, 'GET /api/v1/whoami')
    expect(whoami.caller).toMatchObject({
      kind: 'member',
      member_id: someone.memberId,
      role: 'admin',
    })
  })

  test('refuses a wrong password like the dashboard does, and is deprecated then too', async () => {
    const answer = await it.ask(nobody, 'POST /auth/v1/login', {
      email: it.demo.admin_email,
      password: 'no',
    })
    expect([answer.status, answer.body.error]).toEqual([401, 'invalid_credentials'])
    expect(answer.headers.get('deprecation')).toMatch(/^@\d+$/)
  })
})
