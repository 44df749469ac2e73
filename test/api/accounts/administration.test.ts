import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join as joinPath } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeMember } from '../../../collector/accounts/members/newMember.ts'
import { packageRoot } from '../../../collector/platform/paths.ts'
import { defaultPixelSettings } from '../../../schemas/beacon.ts'
import { beaconOf, customEvent, postBeacon, readEvent } from '../../harness/api.ts'
import { waitFor } from '../../harness/service.ts'
import { type Accounts, type Json, openAccounts } from './harness.ts'

let it: Accounts
beforeAll(async () => {
  it = await openAccounts()
})
afterAll(() => it.close())

const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
const stamps = { version: 1, created_at: time, updated_at: time }

/** Every object of a list, gathered page by page. */
async function listAll(route: string, name: string, limit: number): Promise<Json[]> {
  const found: Json[] = []
  let cursor = ''
  do {
    const joint = route.includes('?') ? '&' : '?'
    const page = await it.done(
      it.key,
      `${route}${joint}limit=${limit}${cursor && `&cursor=${cursor}`}`,
    )
    expect(page[name].length).toBeLessThanOrEqual(limit)
    found.push(...page[name])
    cursor = page.next_cursor ?? ''
  } while (cursor)
  return found
}

describe('the organization', () => {
  test('is read and changed', async () => {
    const { organization } = await it.done(it.key, 'GET /api/v1/organization')
    expect(organization).toEqual({
      organization_id: it.demo.organization_id,
      name: 'Demo organization',
      secret_required: true,
      ...stamps,
      version: expect.any(Number),
    })
    const changed = await it.done(it.owner, 'PUT /api/v1/organization', { name: 'Renamed' })
    expect(changed.organization).toMatchObject({
      name: 'Renamed',
      version: organization.version + 1,
    })
    expect(Date.parse(changed.organization.updated_at)).toBeGreaterThan(
      Date.parse(organization.updated_at),
    )
    expect((await it.done(it.key, 'GET /api/v1/organization')).organization).toEqual(
      changed.organization,
    )
  })

  test('stops asking for the secret when secret_required is switched off, and asks again', async () => {
    const { 'x-api-secret': _, ...keyAlone } = it.key
    await it.done(it.key, 'PUT /api/v1/organization', { secret_required: false })
    await waitFor(
      'the change',
      async () => (await it.ask(keyAlone, 'GET /api/v1/whoami')).status === 200,
    )
    await it.done(it.key, 'PUT /api/v1/organization', { secret_required: true })
    await waitFor(
      'the change',
      async () => (await it.ask(keyAlone, 'GET /api/v1/whoami')).status === 401,
    )
  })
})

describe('members', () => {
  test('are invited, listed, changed and removed', async () => {
    const project_id = await it.makeProject()
    const email = `New.Member-${randomUUID()}@Example.com`
    const { status, body } = await it.ask(it.key, 'POST /api/v1/organization/user/create', {
      email,
      role: 'member',
      projects: [{ project_id, role: 'admin' }],
    })
    expect(status).toBe(201)
    expect(body).toEqual({
      member: {
        member_id: uuid,
        email: email.toLowerCase(),
        name: null,
        role: 'member',
        status: 'invited',
        projects: [{ project_id, role: 'admin' }],
        ...stamps,
      },
      invitation_url: expect.stringMatching(new RegExp(`^${it.url}/invitation/[\\w-]{43}$`)),
      by_mail: false,
    })
    const { member } = body
    const read = await it.done(it.key, `GET /api/v1/organization/user/retrieve/${member.member_id}`)
    expect(read).toEqual({ member })
    expect(await listAll('GET /api/v1/organization/user/list', 'members', 1)).toContainEqual(member)

    const changed = await it.done(it.key, 'PUT /api/v1/organization/user/update', {
      member_id: member.member_id,
      role: 'admin',
      name: 'A Name',
      version: 1,
    })
    expect(changed).toEqual({
      member: { ...member, role: 'admin', name: 'A Name', version: 2, updated_at: time },
    })
    const gone = { member_id: member.member_id }
    const removed = await it.ask(it.key, 'DELETE /api/v1/organization/user/delete', gone)
    expect(removed.status).toBe(204)
    const after = await it.ask(it.key, `GET /api/v1/organization/user/retrieve/${member.member_id}`)
    expect([after.status, after.body.error]).toEqual([404, 'member not found'])
  })

  test('are invited once for each e-mail address, however it is written', async () => {
    const email = `${randomUUID()}@example.com`
    const invite = { email, role: 'member' }
    await it.done(it.key, 'POST /api/v1/organization/user/create', invite)
    const again = await it.ask(it.key, 'POST /api/v1/organization/user/create', {
      ...invite,
      email: email.toUpperCase(),
    })
    expect([again.status, again.body.error]).toEqual([409, 'conflict'])
  })

  test('are not half invited when a project is not there', async () => {
    const email = `${randomUUID()}@example.com`
    const projects = [{ project_id: randomUUID(), role: 'member' }]
    const invite = { email, role: 'member', projects }
    const answer = await it.ask(it.key, 'POST /api/v1/organization/user/create', invite)
    expect([answer.status, answer.body.error]).toEqual([404, 'project not found'])
    const { rowCount } = await it.postgres.query('SELECT FROM members WHERE email = $1', [email])
    expect(rowCount).toBe(0)
  })

  test('the last owner stays owner and member, whoever asks', async () => {
    const { members } = await it.done(it.owner, 'GET /api/v1/organization/user/list')
    const { member_id } = members.find(({ email }: Json) => email === it.demo.admin_email)
    // Invited only: they cannot sign in, so they do not count.
    await it.done(it.owner, 'POST /api/v1/organization/user/create', {
      email: `${randomUUID()}@example.com`,
      role: 'owner',
    })
    for (const caller of [it.owner, it.key]) {
      const demoted = await it.ask(caller, 'PUT /api/v1/organization/user/update', {
        member_id,
        role: 'admin',
      })
      expect([demoted.status, demoted.body.error]).toEqual([409, 'last_owner'])
      const removed = await it.ask(caller, 'DELETE /api/v1/organization/user/delete', { member_id })
      expect([removed.status, removed.body.error]).toEqual([409, 'last_owner'])
    }
  })

  test('of two owners who demote each other at once, one stays', async () => {
    const stranger = await it.openStranger()
    await it.postgres.query(
      `WITH u AS (INSERT INTO users (email, password_hash) SELECT email, '!' FROM members WHERE member_id = $1
         RETURNING user_id)
       UPDATE members SET user_id = u.user_id FROM u WHERE member_id = $1`,
      [stranger.member],
    )
    const second = randomUUID()
    await storeMember(it.postgres, {
      memberId: second,
      organizationId: stranger.organization,
      email: `${second}@example.com`,
      role: 'owner',
      passwordHash: '!',
    })
    const answers = await Promise.all(
      [stranger.member, second].map((member_id) =>
        it.ask(stranger.key, 'PUT /api/v1/organization/user/update', { member_id, role: 'member' }),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })
})

describe('projects', () => {
  test('are created, listed, changed and deleted', async () => {
    const { status, body } = await it.ask(it.key, 'POST /api/v1/project/create', { name: 'Shop' })
    expect(status).toBe(201)
    const { project } = body
    expect(project).toEqual({
      project_id: uuid,
      organization_id: it.demo.organization_id,
      name: 'Shop',
      ...stamps,
      time_zone: 'UTC',
      ignored_networks: [],
      ignored_hosts: [],
      ignored_paths: [],
      transit_hosts: [],
      uses_activation: false,
    })
    const retrieve = `GET /api/v1/project/retrieve/${project.project_id}`
    expect(await it.done(it.key, retrieve)).toEqual({ project })
    expect(await listAll('GET /api/v1/project/list', 'projects', 2)).toContainEqual(project)
    const { project: changed } = await it.done(it.key, 'PUT /api/v1/project/update', {
      project_id: project.project_id.toUpperCase(),
      name: 'Store',
    })
    expect(changed).toEqual({ ...project, name: 'Store', version: 2, updated_at: time })
    const gone = { project_id: project.project_id, events: 'keep' }
    expect(await it.done(it.key, 'DELETE /api/v1/project/delete', gone)).toEqual({
      deleted: true,
      events: 'keep',
    })
    expect((await it.ask(it.key, retrieve)).body.error).toBe('project not found')
  })

  test('are listed page by page, oldest first, each once', async () => {
    for (let n = 0; n < 5; n++) await it.makeProject(`Page ${n}`)
    const [whole, pages] = [
      await listAll('GET /api/v1/project/list', 'projects', 200),
      await listAll('GET /api/v1/project/list', 'projects', 2),
    ]
    expect(pages).toEqual(whole)
    expect(whole.slice(-5).map(({ name }) => name)).toEqual([0, 1, 2, 3, 4].map((n) => `Page ${n}`))
    const created = whole.map(({ created_at }) => created_at)
    expect(created).toEqual([...created].sort())
  })

  test('have members, who are added, listed, changed and taken out', async () => {
    const project_id = await it.makeProject()
    const someone = await it.join('member')
    const { status, body } = await it.ask(it.key, 'POST /api/v1/project/user/create', {
      project_id,
      email: someone.email.toUpperCase(),
      role: 'member',
    })
    expect(status).toBe(201)
    const { project_member } = body
    expect(project_member).toEqual({
      project_id,
      member_id: someone.memberId,
      email: someone.email,
      name: 'Somebody',
      role: 'member',
      created_at: time,
    })
    const one = { project_id, member_id: someone.memberId }
    const again = await it.ask(it.key, 'POST /api/v1/project/user/create', {
      ...one,
      role: 'admin',
    })
    expect(again).toMatchObject({ status: 409, body: { error: 'conflict', project_member } })

    const list = `GET /api/v1/project/user/list?project_id=${project_id}`
    expect(await listAll(list, 'project_members', 1)).toEqual([project_member])
    const retrieve = `GET /api/v1/project/user/retrieve/${someone.memberId}?project_id=${project_id}`
    expect(await it.done(it.key, retrieve)).toEqual({ project_member })
    const changed = await it.done(it.key, 'PUT /api/v1/project/user/update', {
      ...one,
      role: 'admin',
    })
    expect(changed).toEqual({ project_member: { ...project_member, role: 'admin' } })
    const removed = await it.ask(it.key, 'DELETE /api/v1/project/user/delete', one)
    expect(removed.status).toBe(204)
    expect((await it.ask(it.key, retrieve)).body.error).toBe('project member not found')
    for (const route of ['PUT /api/v1/project/user/update', 'DELETE /api/v1/project/user/delete']) {
      const body = route.startsWith('PUT') ? { ...one, role: 'admin' } : one
      expect((await it.ask(it.key, route, body)).body.error).toBe('project member not found')
    }
  })
})

describe('pixels', () => {
  test('are created, listed, changed and deleted', async () => {
    const project_id = await it.makeProject()
    const { status, body } = await it.ask(it.key, 'POST /api/v1/pixel/create', {
      project_id,
      name: 'Site',
      allowed_origins: ['https://shop.example', 'http://127.0.0.1:8080'],
      settings: { consent: 'cookieless', retention_days: 30 },
    })
    expect(status).toBe(201)
    const { pixel } = body
    const script_url = `${it.url}/p/${pixel.pixel_id}.js`
    expect(pixel).toEqual({
      pixel_id: uuid,
      project_id,
      name: 'Site',
      active: true,
      script_url,
      ...stamps,
      allowed_origins: ['https://shop.example', 'http://127.0.0.1:8080'],
      settings: {
        ...defaultPixelSettings,
        drop_bots: false,
        ip: 'truncated',
        require_signed_identify: false,
        consent: 'cookieless',
        retention_days: 30,
      },
      snippet: expect.stringContaining(`<script async src="${script_url}"></script>`),
    })
    const retrieve = `GET /api/v1/pixel/retrieve/${pixel.pixel_id}`
    expect(await it.done(it.key, retrieve)).toEqual({ pixel })
    expect(await it.done(it.key, `${retrieve}?project_id=${project_id}`)).toEqual({ pixel })
    const list = `GET /api/v1/pixel/list?project_id=${project_id}`
    expect(await listAll(list, 'pixels', 1)).toEqual([pixel])

    const { pixel: changed } = await it.done(it.key, 'PUT /api/v1/pixel/update', {
      pixel_id: pixel.pixel_id,
      project_id,
      active: false,
      allowed_origins: [],
      settings: { drop_bots: true, retention_days: null },
    })
    expect(changed).toEqual({
      ...pixel,
      active: false,
      allowed_origins: [],
      version: 2,
      updated_at: time,
      settings: { ...pixel.settings, drop_bots: true, retention_days: null },
    })
    const gone = { pixel_id: pixel.pixel_id }
    // Without `events`, the stored events stay.
    expect(await it.done(it.key, 'DELETE /api/v1/pixel/delete', gone)).toEqual({
      deleted: true,
      events: 'keep',
    })
    expect((await it.ask(it.key, retrieve)).body.error).toBe('pixel not found')
  })

  test('their snippet is the one of the examples, and their script is served', async () => {
    const pixelId = await it.makePixel(it.demo.project_id)
    const { pixel } = await it.done(it.key, `GET /api/v1/pixel/retrieve/${pixelId}`)
    const example = readFileSync(joinPath(packageRoot, 'examples/plain.html'), 'utf8')
    expect(example).toContain(pixel.snippet.split('\n')[0])
    await waitFor('the script', async () => (await fetch(pixel.script_url)).ok)
  })

  test('a key of another project gets 401, whatever else is wrong in the body', async () => {
    const key = await it.makeKey(await it.makeProject())
    const { pixel_id, project_id } = it.demo
    for (const [route, body] of [
      ['POST /api/v1/pixel/create', { project_id, name: 7 }],
      ['PUT /api/v1/pixel/update', { pixel_id, name: 7 }],
      ['DELETE /api/v1/pixel/delete', { pixel_id, events: 'all' }],
    ] as const) {
      expect((await it.ask(key, route, body)).status, route).toBe(401)
      expect((await it.ask(it.key, route, body)).status, route).toBe(400)
    }
  })

  test('a project_id that is not the pixel’s finds no pixel', async () => {
    const other = await it.makeProject()
    for (const [route, body] of [
      [`GET /api/v1/pixel/retrieve/${it.demo.pixel_id}?project_id=${other}`, undefined],
      ['PUT /api/v1/pixel/update', { pixel_id: it.demo.pixel_id, project_id: other, name: 'x' }],
      [
        'DELETE /api/v1/pixel/delete',
        { pixel_id: it.demo.pixel_id, project_id: other, events: 'keep' },
      ],
    ] as const) {
      const answer = await it.ask(it.key, route, body)
      expect([answer.status, answer.body.error]).toEqual([404, 'pixel not found'])
    }
  })

  test('visitors of all projects at a glance are those of the counts, day by day', async () => {
    const project_id = await it.makeProject()
    const pixel_id = await it.makePixel(project_id)
    const dayMs = 86_400_000
    const today = Math.floor(Date.now() / dayMs)
    const send = (daysAgo: number, cookie_id: string, userAgent?: string) => {
      const event = customEvent()
      event.event_data.timestamp = new Date(
        Math.min(Date.now(), (today - daysAgo) * dayMs + 1_000),
      ).toISOString()
      const beacon = { pixel_id, cookie_id, sent_at: new Date().toISOString() }
      const headers: Record<string, string> = userAgent ? { 'user-agent': userAgent } : {}
      return postBeacon(it.url, beaconOf(it.service, [event], beacon), headers)
    }
    await waitFor('the pixel', async () => (await fetch(`${it.url}/p/${pixel_id}.js`)).ok)
    const [one, other] = [randomUUID(), randomUUID()]
    // Two of the same day, one the next, one who is older than the reported days.
    const sent: [daysAgo: number, cookie: string][] = [
      ...([
        [13, one],
        [13, other],
        [13, one],
        [12, one],
        [0, other],
        [20, one],
      ] as [number, string][]),
    ]
    // Bots count in no figure of people.
    for (const [daysAgo, cookie] of [
      [0, randomUUID()],
      [12, one],
      [5, one],
    ] as const)
      expect((await send(daysAgo, cookie, 'Googlebot/2.1')).status).toBe(200)
    for (const [daysAgo, cookie] of sent) expect((await send(daysAgo, cookie)).status).toBe(200)
    const counts = await waitFor('the events', async () => {
      const { counts, total } = await it.done(
        it.key,
        `GET /api/v3/events/web_event/counts?project_id=${project_id}&group_by=day&distinct=cookie_id&filter=is_bot:eq:false&start_ms=${(today - 30) * dayMs}`,
      )
      return total === sent.length ? counts : null
    })
    const visitorsOn = new Map(counts.map((row: Json) => [row.day.slice(0, 10), row.distinct]))
    await waitFor('the bots', async () => {
      const query = `project_id=${project_id}&filter=is_bot:eq:true&start_ms=${(today - 30) * dayMs}`
      return (await it.done(it.key, `GET /api/v3/events/web_event/counts?${query}`)).total === 3
    })
    const { projects } = await it.done(it.key, 'GET /api/v1/project/activity')
    const found = projects.find((project: Json) => project.project_id === project_id)
    expect(found).toEqual({
      project_id,
      events_today: 1,
      last_refusal_at: null,
      visitors: Array.from(
        { length: 14 },
        (_, at) =>
          visitorsOn.get(new Date((today - 13 + at) * dayMs).toISOString().slice(0, 10)) ?? 0,
      ),
      last_event_at: expect.stringContaining(new Date(today * dayMs).toISOString().slice(0, 10)),
    })
    expect(found.visitors).toEqual([2, 1, ...Array(11).fill(0), 1])
    // A project without any event is there too.
    const empty = await it.makeProject()
    const again = (await it.done(it.key, 'GET /api/v1/project/activity')).projects
    expect(again).toContainEqual({
      project_id: empty,
      visitors: Array(14).fill(0),
      events_today: 0,
      last_event_at: null,
      last_refusal_at: null,
    })
  })

  test('activity lights up at the first event, and tells what was rejected', async () => {
    const pixel_id = await it.makePixel(it.demo.project_id)
    const activity = () => it.done(it.key, `GET /api/v1/pixel/activity/${pixel_id}`)
    const nothing = {
      pixel_id,
      first_event_at: null,
      last_event_at: null,
      events_last_24h: 0,
      bots_last_24h: 0,
      visitors_last_24h: 0,
      without_consent_last_24h: 0,
      rejected_last_24h: 0,
      last_rejection: null,
      last_refusal: null,
      last_ignored: null,
    }
    expect(await activity()).toEqual(nothing)

    const [first, last] = [customEvent(), customEvent()]
    first.event_data.timestamp = new Date(Date.now() - 3_600_000).toISOString()
    const wrong = customEvent({}, { event_type: 'nonsense' })
    const send = (events: unknown[], headers = {}, more = {}) =>
      postBeacon(
        it.url,
        beaconOf(it.service, events, { pixel_id, sent_at: new Date().toISOString(), ...more }),
        headers,
      )
    await waitFor('the pixel', async () => (await send([first, wrong])).ok)
    expect((await send([last], { 'user-agent': 'Googlebot/2.1' })).status).toBe(200)
    const anonymous = [customEvent(), customEvent()]
    for (const [index, event] of anonymous.entries()) {
      event.event_data.timestamp = new Date(Date.now() - 60_000 * (2 - index)).toISOString()
      expect((await send([event], {}, { consent: false })).status).toBe(200)
    }
    await readEvent(it.service, last.event_id)
    const seen = await waitFor('the activity', async () => {
      const now = await activity()
      return now.events_last_24h === 4 && now.rejected_last_24h === 1 ? now : null
    })
    expect(seen).toEqual({
      pixel_id,
      events_last_24h: 4,
      bots_last_24h: 1,
      // The one with consent, and one who sent both events without.
      visitors_last_24h: 2,
      without_consent_last_24h: 1,
      rejected_last_24h: 1,
      first_event_at: first.event_data.timestamp,
      last_event_at: last.event_data.timestamp,
      last_rejection: {
        at: time,
        path: '/event_type',
        message: expect.stringContaining('must be one of'),
      },
      last_refusal: null,
      last_ignored: null,
    })
  })
})

describe('two people who edit at once', () => {
  const objects: [string, () => Promise<{ route: string; body: Json; name: string }>][] = [
    [
      'organization',
      async () => ({ name: 'organization', route: 'PUT /api/v1/organization', body: {} }),
    ],
    [
      'member',
      async () => {
        const { memberId } = await it.join('member')
        return {
          name: 'member',
          route: 'PUT /api/v1/organization/user/update',
          body: { member_id: memberId },
        }
      },
    ],
    [
      'project',
      async () => ({
        name: 'project',
        route: 'PUT /api/v1/project/update',
        body: { project_id: await it.makeProject() },
      }),
    ],
    [
      'pixel',
      async () => ({
        name: 'pixel',
        route: 'PUT /api/v1/pixel/update',
        body: { pixel_id: await it.makePixel(it.demo.project_id) },
      }),
    ],
  ]

  test.each(objects)('%s: one is kept, the other is shown what is there now', async (_, make) => {
    const { name, route, body } = await make()
    const { version } = (await it.done(it.owner, route, body))[name]
    const answers = await Promise.all(
      ['Left', 'Right'].map((side) => it.ask(it.owner, route, { ...body, version, name: side })),
    )
    const kept = answers.find(({ status }) => status === 200)!
    const refused = answers.find(({ status }) => status === 409)!
    expect(kept.body[name].version).toBe(version + 1)
    expect(refused.body).toMatchObject({ error: 'conflict', [name]: kept.body[name] })
  })
})

describe('whoami', () => {
  test('of an organization key', async () => {
    const answer = await it.done(it.key, 'GET /api/v1/whoami')
    expect(answer).toEqual({
      organization: { organization_id: it.demo.organization_id, name: expect.any(String) },
      caller: { kind: 'key', key_id: uuid, scope: 'organization', mode: 'live' },
      projects: expect.arrayContaining([{ project_id: it.demo.project_id, name: 'Demo shop' }]),
    })
  })

  test('of a project key lists its project alone', async () => {
    const key = await it.makeKey(it.demo.project_id)
    const { caller, projects } = await it.done(key, 'GET /api/v1/whoami')
    expect(caller).toMatchObject({ scope: 'project' })
    expect(projects).toEqual([{ project_id: it.demo.project_id, name: 'Demo shop' }])
  })

  test('of a plain member lists what they belong to, and what they may do there', async () => {
    const [mine, managed] = [await it.makeProject('Mine'), await it.makeProject('Managed')]
    await it.makeProject('Not mine')
    const someone = await it.join('member', [
      { project_id: mine, role: 'member' },
      { project_id: managed, role: 'admin' },
    ])
    const { caller, projects } = await it.done(someone.session, 'GET /api/v1/whoami')
    expect(caller).toEqual({
      kind: 'member',
      member_id: someone.memberId,
      email: someone.email,
      name: 'Somebody',
      role: 'member',
    })
    expect(projects).toEqual([
      { project_id: mine, name: 'Mine', role: 'member' },
      { project_id: managed, name: 'Managed', role: 'admin' },
    ])
  })
})
