import { randomBytes, randomUUID } from 'node:crypto'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { storeMember } from '../../../../collector/accounts/members/newMember.ts'
import { periodToTell } from '../../../../collector/analytics/summaries/periods.ts'
import { claim } from '../../../../collector/analytics/summaries/subscriptions.ts'
import { sendDueSummaries } from '../../../../collector/analytics/summaries/summaryJobs.ts'
import { sha256 } from '../../../../collector/api/access/authenticate.ts'
import { sessionCookie } from '../../../../collector/api/access/session.ts'
import { readConfig } from '../../../../collector/config.ts'
import { openMail } from '../../../../collector/platform/mail.ts'
import { timeZone } from '../../../../collector/platform/timeZone.ts'
import { openMailServer } from '../../../harness/mailServer.ts'
import { storeOrganization, storeProject } from '../../../harness/owners.ts'
import { eventOf, openEvents, organizationId, projectId, type Row } from '../../events/harness.ts'

/** Summaries by e-mail, through a real mail server: content, recipients, and each sent once. */
let events: Awaited<ReturnType<typeof openEvents>>
let mailServer: Awaited<ReturnType<typeof openMailServer>>
const { publicUrl } = readConfig({})
const members = { owner: randomUUID(), plain: randomUUID(), left: randomUUID() }
const emails = {
  owner: 'owner@acme.example',
  plain: 'plain@acme.example',
  left: 'left@acme.example',
}
const day = 86_400_000
/** Monday 9 November 2026, 07:00 UTC. */
const monday = Date.UTC(2026, 10, 9, 7)
const inWeek = Date.UTC(2026, 10, 4, 12)
const [ada, ben, eve] = [randomUUID(), randomUUID(), randomUUID()]

beforeAll(async () => {
  mailServer = await openMailServer()
  events = await openEvents({
    isGuarded: true,
    sendMail: openMail(mailServer.env.SMTP_URL, mailServer.env.SMTP_FROM),
  })
  const { postgres } = events
  await storeOrganization(postgres, organizationId)
  await storeProject(postgres, projectId, organizationId, 'Søap & <Co>')
  for (const [name, memberId] of Object.entries(members) as [keyof typeof members, string][]) {
    const role = name === 'owner' ? 'owner' : 'member'
    await storeMember(postgres, {
      memberId,
      organizationId,
      email: emails[name],
      role,
      passwordHash: 'none',
    })
  }
  await postgres.query(
    "INSERT INTO project_members (project_id, member_id, role) VALUES ($1, $2, 'member')",
    [projectId, members.plain],
  )
  const at = (ms: number, more: Row) => eventOf(ms, 0, { page_host: 'shop.example', ...more })
  await events.insertHits([
    at(inWeek, { cookie_id: ada, page_path: '/', referrer_url: 'https://search.example/?q=x' }),
    at(inWeek + 60_000, {
      cookie_id: ada,
      page_path: '/pricing',
      referrer_url: 'https://shop.example/',
    }),
    at(inWeek, { cookie_id: ben, page_path: '/u/ben@customers.example' }),
    at(inWeek, { cookie_id: eve, page_path: '/<script>' }),
    at(inWeek, { cookie_id: eve, page_path: '/www.evil.example' }),
    at(inWeek, { cookie_id: eve, page_path: '/two\r\nlines' }),
    // Bots are in no figure: not as visitors, pages or sources, nor in this visit of Ada's.
    at(inWeek, { page_path: '/for-bots', referrer_url: 'https://bots.example/', is_bot: true }),
    at(inWeek + 120_000, { cookie_id: ada, page_path: '/for-bots', is_bot: true }),
    at(inWeek - 7 * day, { page_path: '/for-bots', is_bot: true }),
    at(inWeek - 7 * day, { cookie_id: ada, page_path: '/' }),
    at(inWeek - 7 * day, { cookie_id: ben, page_path: '/' }),
  ])
})
afterAll(async () => {
  await events.close()
  await mailServer.close()
})

beforeEach(async () => {
  await events.postgres.query('DELETE FROM summary_subscriptions')
  mailServer.mails.length = 0
})

/** As if they had asked for it long before. */
async function subscribe(name: keyof typeof members, frequency = 'weekly'): Promise<string> {
  const { rows } = await events.postgres.query<{ subscription_id: string }>(
    `INSERT INTO summary_subscriptions (project_id, member_id, frequency, since)
     VALUES ($1, $2, $3, '2026-01-01') RETURNING subscription_id`,
    [projectId, members[name], frequency],
  )
  return rows[0]!.subscription_id
}
const send = (nowMs = monday, smtpUrl = mailServer.env.SMTP_URL) =>
  sendDueSummaries(
    {
      postgres: events.postgres,
      openQueryExecutor: events.openQueryExecutor,
      publicUrl,
      sendMail: openMail(smtpUrl, mailServer.env.SMTP_FROM),
      log: { warn: () => {} },
    },
    nowMs,
    new AbortController().signal,
  )
/** A mail server that takes a mail and then says this; null: it says nothing and hangs up. */
async function openFaultyServer(says: string | null) {
  const server = createServer((socket) => {
    let mail: string | null = null
    socket.on('error', () => {})
    socket.write('220 ready\r\n')
    socket.setEncoding('utf8').on('data', (text: string) => {
      if (mail === null) {
        if (/^DATA/i.test(text)) mail = ''
        socket.write(mail === null ? '250 yes\r\n' : '354 go on\r\n')
        return
      }
      mail += text
      if (mail.endsWith('\r\n.\r\n')) {
        mail = null
        if (says === null) socket.destroy()
        else socket.write(`${says}\r\n`)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

const receivers = () => mailServer.mails.map(({ to }) => to[0]).sort()
/** What quoted-printable says. */
const decoded = (text: string) =>
  Buffer.from(
    text.replace(/=([\dA-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  ).toString()

test('periods are of local time', () => {
  const zone = timeZone('America/Los_Angeles')!
  const { startMs, endMs, firstDay, lastDay } = periodToTell(
    'weekly',
    Date.UTC(2026, 10, 2, 14),
    zone,
  )
  expect([firstDay, lastDay]).toEqual(['2026-10-26', '2026-11-01'])
  expect([startMs, endMs]).toEqual([Date.UTC(2026, 9, 26, 7), Date.UTC(2026, 10, 2, 8)])
  expect(periodToTell('weekly', Date.UTC(2026, 10, 2, 13), zone).lastDay).toBe('2026-10-25')
})

test('weeks go from Monday, months by the calendar; both are told some hours after they are over', () => {
  const told = (frequency: 'weekly' | 'monthly', ...time: [number, number, number, number]) => {
    const { firstDay, lastDay, before } = periodToTell(frequency, Date.UTC(...time))
    return [firstDay, lastDay, new Date(before.startMs).toISOString().slice(0, 10)]
  }
  expect(told('weekly', 2026, 10, 9, 7)).toEqual(['2026-11-02', '2026-11-08', '2026-10-26'])
  expect(told('weekly', 2026, 10, 9, 5)).toEqual(['2026-10-26', '2026-11-01', '2026-10-19'])
  expect(told('weekly', 2026, 10, 15, 23)).toEqual(['2026-11-02', '2026-11-08', '2026-10-26'])
  expect(told('weekly', 2027, 0, 1, 7)).toEqual(['2026-12-21', '2026-12-27', '2026-12-14'])
  expect(told('monthly', 2026, 2, 1, 7)).toEqual(['2026-02-01', '2026-02-28', '2026-01-01'])
  expect(told('monthly', 2026, 2, 1, 5)).toEqual(['2026-01-01', '2026-01-31', '2025-12-01'])
})

describe('a summary', () => {
  test('has the figures of the period and the one before, and tells of no person', async () => {
    await subscribe('owner')
    await send()
    expect(receivers()).toEqual([emails.owner])
    const mail = decoded(mailServer.mails[0]!.text)
    expect(mail).toContain('November 2 – 8, 2026 (UTC)')
    expect(mail).toMatch(/ 3 {2}Visitors \(\+50% from 2\)/)
    expect(mail).toMatch(/ 6 {2}Page views \(\+200% from 2\)/)
    expect(mail).toMatch(/ 1 {2}\/two lines\r?\n/)
    expect(mail).toMatch(/ 1 {2}\/pricing\r?\n/)
    expect(mail).toMatch(/ 1 {2}search\.example\r?\n/)
    expect(mail).toContain(
      `${publicUrl}/${organizationId}/projects/${projectId}/overview?period=custom`,
    )
    // In HTML, too, with everything escaped.
    expect(mail).toContain('<h1 style="margin:0;font-size:20px">Søap &amp; &lt;Co&gt;</h1>')
    expect(mail).toContain('/&lt;script&gt;')
    expect(mail.slice(mail.indexOf('<!doctype'))).not.toMatch(/<script|<img|src=/)
    for (const hidden of [
      ada,
      ben,
      eve,
      'ben@',
      'customers.example',
      '203.0.113.7',
      'shop.example/',
      'bots',
      'evil',
    ])
      expect(mail, hidden).not.toContain(hidden)
  })

  test('is sent once, however often and wherever it is tried, and again for the next period', async () => {
    await subscribe('owner')
    await subscribe('plain', 'monthly')
    await Promise.all([send(), send(), send(), send()])
    await send(monday + day)
    expect(receivers()).toEqual([emails.owner, emails.plain])
    await send(monday + 7 * day)
    expect(receivers()).toEqual([emails.owner, emails.owner, emails.plain])
  })

  test('is not sent again by who comes after a process that was killed while it sent', async () => {
    const subscriptionId = await subscribe('owner')
    expect(
      await claim(events.postgres, 'weekly', periodToTell('weekly', monday), subscriptionId),
    ).toBe(emails.owner)
    await send()
    expect(receivers()).toEqual([])
  })

  test('is sent as soon as there is a mail server again', async () => {
    await subscribe('owner')
    await expect(send(monday, 'smtp://127.0.0.1:1')).rejects.toThrow('ECONNREFUSED')
    const wrong = mailServer.env.SMTP_URL.replace('secret', 'wrong')
    await expect(send(monday, wrong)).rejects.toThrow('Invalid login')
    await send()
    expect(receivers()).toEqual([emails.owner])
  })

  test('is sent again where the server says so, and not where it broke off with the mail in its hands', async () => {
    await subscribe('owner')
    const busy = await openFaultyServer('451 later')
    await expect(send(monday, busy.url)).rejects.toThrow('451 later')
    await expect(send(monday, busy.url)).rejects.toThrow('451 later')
    await busy.close()
    const broken = await openFaultyServer(null)
    await send(monday, broken.url)
    await broken.close()
    await send()
    expect(receivers()).toEqual([])
  })

  test('goes to nobody who is no member of the project any more, and tells nothing of an empty site', async () => {
    await subscribe('left')
    await subscribe('plain')
    await events.postgres.query('DELETE FROM project_members WHERE member_id = $1', [members.plain])
    await send()
    await subscribe('owner')
    await send(monday + 100 * day)
    expect(receivers()).toEqual([])
    await events.postgres.query(
      "INSERT INTO project_members (project_id, member_id, role) VALUES ($1, $2, 'member')",
      [projectId, members.plain],
    )
  })

  test('ends with one click: a program’s POST to what its header names, and nothing less', async () => {
    await subscribe('owner')
    await send()
    const mail = decoded(mailServer.mails[0]!.text)
    expect(mail).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r?$/m)
    const url = /^List-Unsubscribe:\s+<([^>]+)>\r?$/m.exec(mail)![1]!
    const path = url.slice(publicUrl.length)
    const click = (to: string) =>
      events.app.inject({
        method: 'POST',
        url: to,
        payload: 'List-Unsubscribe=One-Click',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
    // Programs that look at links before people do.
    expect(
      (await events.app.inject({ url: path, headers: { accept: 'text/html' } })).statusCode,
    ).toBe(200)
    const altered = path.slice(0, -1) + (path.endsWith('0') ? '1' : '0')
    for (const wrong of [altered, '/unsubscribe/x', `/unsubscribe/${'0'.repeat(64)}`])
      expect((await click(wrong)).statusCode).toBe(404)
    await send(monday + 7 * day)
    expect(receivers()).toHaveLength(2)
    for (const _ of [1, 2]) expect((await click(path)).json()).toEqual({ unsubscribed: true })
    await send(monday + 14 * day)
    expect(receivers()).toHaveLength(2)
  })
})

test('a member sets it for themselves, where they are a member; it begins with the period under way', async () => {
  const as = async (name: keyof typeof members) => {
    const session = randomBytes(32).toString('base64url')
    await events.postgres.query(
      `INSERT INTO sessions (session_sha256, user_id, expires_at)
       SELECT $1, user_id, now() + interval '1 hour' FROM members WHERE member_id = $2`,
      [sha256(session), members[name]],
    )
    return { cookie: `${sessionCookie(publicUrl)}=${session}`, 'sec-fetch-site': 'same-origin' }
  }
  const url = '/dashboard/email-summary'
  const [plain, left] = [await as('plain'), await as('left')]
  const set = (headers: Row, frequency: string | null) =>
    events.app.inject({
      method: 'PUT',
      url,
      headers: headers as Record<string, string>,
      payload: { project_id: projectId, frequency },
    })
  const get = (headers: Record<string, string>) =>
    events.app.inject({ url, query: { project_id: projectId }, headers })
  expect((await get(plain)).json()).toEqual({ frequency: null, by_mail: true })
  expect((await set(plain, 'weekly')).json()).toEqual({ frequency: 'weekly', by_mail: true })
  expect((await get(plain)).json()).toEqual({ frequency: 'weekly', by_mail: true })
  expect((await set(left, 'weekly')).statusCode).toBe(404)
  expect((await set(plain, 'hourly')).statusCode).toBe(400)
  // The period that was over by then is not told, nor is one told again by who changes their mind.
  await send(Date.now())
  await set(plain, 'monthly')
  await set(plain, 'weekly')
  await send(Date.now())
  expect(receivers()).toEqual([])
  await set(plain, null)
  expect((await get(plain)).json()).toEqual({ frequency: null, by_mail: true })
})
