import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sha256 } from '../../../collector/api/access/authenticate.ts'
import { cli, runNextTo } from '../../harness/commands.ts'
import { newPostgresDatabase } from '../../harness/databases.ts'
import { waitFor } from '../../harness/service.ts'
import { openTerminal } from '../../harness/terminal.ts'
import { type Accounts, nobody, openAccounts, password } from './harness.ts'

let it: Accounts

beforeAll(async () => {
  it = await openAccounts({
    env: { FOOTFALL_TRUSTED_PROXIES: '127.0.0.1' },
    sendsMail: true,
  })
})
afterAll(() => it.close())

const askFor = (email: string, address = '10.9.8.7') =>
  it.ask({ 'x-forwarded-for': address }, 'POST /dashboard/password-reset', { email })
/** An invited user also has a mail of the invitation. */
const mailTo = (email: string) => it.mail.mailTo(email, '/reset-password/')
const tokenIn = (body: string) => /\/reset-password\/([\w-]{43})/.exec(body)![1]!

const run = (args: string[], { FOOTFALL_DATA_DIR, ...env }: Record<string, string>) =>
  runNextTo(FOOTFALL_DATA_DIR!, args, env)

describe('a forgotten password', () => {
  test('is changed by the link of a mail, once; sessions and tokens end', async () => {
    const someone = await it.join('admin')
    const { token: bearer } = await it.done(nobody, 'POST /auth/v1/login', {
      email: someone.email,
      password,
    })
    // A token tells its second only: one of the very second of the change would live on.
    const signedInAt = Math.floor(Date.now() / 1000)
    await waitFor('the next second', () => Date.now() / 1000 > signedInAt + 1.1)
    expect((await askFor(someone.email.toUpperCase())).status).toBe(202)
    const token = tokenIn((await mailTo(someone.email)).text)
    const path = `/dashboard/password-reset/${token}`
    expect(await it.done(nobody, `GET ${path}`)).toEqual({ email: someone.email })
    const { rows } = await it.postgres.query(
      'SELECT password_resets::text AS row FROM password_resets',
    )
    expect(rows.some(({ row }) => row.includes(sha256(token).toString('hex')))).toBe(true)
    expect(JSON.stringify(rows)).not.toContain(token)

    expect(await it.ask(nobody, `POST ${path}`, { password: 'short' })).toMatchObject({
      status: 400,
    })
    const fresh = 'a completely new password'
    const uses = await Promise.all(
      [1, 2].map(() => it.ask(nobody, `POST ${path}`, { password: fresh })),
    )
    expect(uses.map(({ status }) => status).sort()).toEqual([200, 404])
    expect((await it.ask(nobody, `GET ${path}`)).body.error).toBe('password reset not found')
    const signIn = async (given: string) =>
      (await it.ask(nobody, 'POST /dashboard/session', { email: someone.email, password: given }))
        .status
    expect([await signIn(password), await signIn(fresh)]).toEqual([401, 200])
    for (const caller of [someone.session, { authorization: `Bearer ${bearer}` }]) {
      await waitFor(
        'the end',
        async () => (await it.ask(caller, 'GET /api/v1/whoami')).status === 401,
      )
    }
    const { entries } = await it.done(it.owner, 'GET /dashboard/audit?limit=200')
    expect(entries).toContainEqual(
      expect.objectContaining({ action: 'member.password_reset', object_id: someone.memberId }),
    )
  })

  test('answers alike whether or not somebody has the address, and writes to nobody else', async () => {
    const someone = await it.join('member')
    const unknown = `${randomUUID()}@example.com`
    const answers = [await askFor(unknown), await askFor(someone.email)]
    expect(answers.map(({ status, body }) => ({ status, body }))).toEqual(
      Array(2).fill({ status: 202, body: { by_mail: true } }),
    )
    // A later request has arrived: the other mail will not.
    await mailTo(someone.email)
    expect(it.mail.mails.some(({ to }) => to.includes(unknown))).toBe(false)
  })

  test('a link is good for an hour, and only the newest', async () => {
    const someone = await it.join('member')
    await askFor(someone.email)
    const first = tokenIn((await mailTo(someone.email)).text)
    it.mail.mails.length = 0
    await askFor(someone.email)
    const second = tokenIn((await mailTo(someone.email)).text)
    const statusOf = async (token: string) =>
      (await it.ask(nobody, `GET /dashboard/password-reset/${token}`)).status
    expect([await statusOf(first), await statusOf(second)]).toEqual([404, 200])
    await it.postgres.query(
      `UPDATE password_resets SET expires_at = expires_at - interval '60 minutes'`,
    )
    expect(await statusOf(second)).toBe(404)
    const late = await it.ask(nobody, `POST /dashboard/password-reset/${second}`, {
      password: 'a new password',
    })
    expect(late.status).toBe(404)
  })

  test('nobody is flooded: three an hour, whether or not there is somebody', async () => {
    const someone = await it.join('member')
    for (const email of [someone.email, `${randomUUID()}@example.com`]) {
      const answers = []
      for (let n = 0; n < 5; n++) answers.push(await askFor(email, `10.1.1.${n}`))
      expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 429, 429])
    }
  })

  test('npx footfall-server reset-password prints a link', async () => {
    const someone = await it.join('member')
    const env = { FOOTFALL_DATA_DIR: it.service.dataDir }
    const { code, output } = await run(['reset-password', someone.email], env)
    expect(code).toBe(0)
    expect(output).toContain(`${it.url}/reset-password/`)
    const token = tokenIn(output)
    const use = await it.ask(nobody, `POST /dashboard/password-reset/${token}`, {
      password: 'another new one',
    })
    expect(use.status).toBe(200)
    expect(await run(['reset-password', 'nobody@nowhere.example'], env)).toEqual({
      code: 1,
      output: 'footfall: no user has the e-mail address nobody@nowhere.example\n',
    })
  })
})

describe('npx footfall-server setup', () => {
  const flags = [
    '--organization',
    'Example Inc',
    '--email',
    'Olga@example.com',
    '--project',
    'Shop',
  ]

  test('makes owner, project, pixel and key in the running service; the owner chooses a password and signs in', async () => {
    const { code, output } = await run(['setup', ...flags], {
      FOOTFALL_DATA_DIR: it.service.dataDir,
      TZ: 'Europe/Berlin',
    })
    expect(code, output).toBe(0)
    const [, apiKey, apiSecret] = /X-Api-Key: (\S+)'[\s\S]*X-Api-Secret: (\S+)'/.exec(output)!
    const pixelId = /\/p\/([0-9a-f-]{36})\.js/.exec(output)![1]!
    const key = { 'x-api-key': apiKey!, 'x-api-secret': apiSecret! }
    const { pixel } = await it.done(key, `GET /api/v1/pixel/retrieve/${pixelId}`)
    const { project } = await it.done(key, `GET /api/v1/project/retrieve/${pixel.project_id}`)
    expect(project.time_zone).toBe('Europe/Berlin')
    expect(output).toContain(pixel.snippet)
    await waitFor('the pixel', async () => (await fetch(`${it.url}/p/${pixelId}.js`)).ok)
    const token = tokenIn(output)
    const used = await it.ask(nobody, `POST /dashboard/password-reset/${token}`, {
      password: 'a password of her own',
    })
    // The link signs her in.
    expect(used.body.session).toMatchObject({ organization: { name: 'Example Inc' } })
    const { entries } = await it.done(it.sessionOf(used), 'GET /dashboard/audit')
    expect(entries.map(({ action }: { action: string }) => action)).toContain('member.sign_in')
    const signedIn = await it.ask(nobody, 'POST /dashboard/session', {
      email: 'olga@example.com',
      password: 'a password of her own',
    })
    expect(signedIn.body).toMatchObject({
      member: { role: 'owner' },
      organization: { name: 'Example Inc' },
    })
  })

  test('run again makes nothing twice, and tells no secret', async () => {
    const env = { FOOTFALL_DATA_DIR: it.service.dataDir }
    const countAll = async () =>
      (
        await it.postgres.query(
          `SELECT (SELECT count(*) FROM organizations) AS o, (SELECT count(*) FROM projects) AS p,
             (SELECT count(*) FROM pixels) AS x, (SELECT count(*) FROM api_keys) AS k, (SELECT count(*) FROM users) AS u`,
        )
      ).rows
    const before = await countAll()
    const { code, output } = await run(['setup', ...flags], env)
    expect(code).toBe(0)
    expect(output).toContain('Organization “Example Inc” already exists')
    expect(output).toContain('API key “Setup” already exists')
    expect(output).not.toMatch(/X-Api-Secret|reset-password/)
    expect(await countAll()).toEqual(before)
  })

  test('fills an empty production database, before the first start', async () => {
    const env = {
      DATABASE_URL: await newPostgresDatabase(),
      FOOTFALL_PUBLIC_URL: 'https://collector.example',
    }
    const { code, output } = await run(['setup', ...flags], env)
    expect(code, output).toBe(0)
    expect(output).toContain('https://collector.example/reset-password/')
  })

  test('without a terminal says which flags are missing, or wrong', async () => {
    const env = { FOOTFALL_DATA_DIR: it.service.dataDir }
    expect(await run(['setup', ...flags.slice(0, 4)], env)).toEqual({
      code: 1,
      output: 'footfall: --project is missing\n',
    })
    expect(await run(['setup'], env)).toEqual({
      code: 1,
      output: 'footfall: --organization, --email, --project are missing\n',
    })
    expect((await run(['setup', ...flags.with(3, 'olga')], env)).output).toContain(
      '--email must be an e-mail address',
    )
  })

  const atTerminal = (...args: string[]) =>
    openTerminal([process.execPath, cli, 'setup', ...args], {
      FOOTFALL_DATA_DIR: it.service.dataDir,
    })

  test('at a terminal asks for what the flags leave out, again where the answer will not do', async () => {
    const terminal = atTerminal('--organization', 'Example Inc')
    await terminal.answer('E-mail address of its owner: ', 'olga')
    await terminal.answer('It must be an e-mail address: ', 'olga@example.com')
    await terminal.answer('Name of the first project: ', 'Second shop')
    expect(await terminal.ended, terminal.output()).toBe(0)
    expect(terminal.output()).toContain('Project “Second shop” created')
    expect(terminal.output()).not.toContain('Name of the organization')
  })

  test.each([
    ['Ctrl-C', '\x03'],
    ['Ctrl-D', '\x04'],
  ])('broken off at the terminal by %s makes nothing', async (_, key) => {
    const terminal = atTerminal('--organization', 'Half Inc')
    await terminal.answer('E-mail address of its owner: ', 'olga@example.com')
    await terminal.answer('Name of the first project: ', key, '')
    expect(await terminal.ended, terminal.output()).toBe(1)
    expect(terminal.output().trimEnd()).toMatch(/footfall: canceled; nothing was created$/)
    const { rows } = await it.postgres.query("SELECT FROM organizations WHERE name = 'Half Inc'")
    expect(rows).toEqual([])
  })
})
