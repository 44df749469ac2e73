import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Accounts, type Caller, type Json, openAccounts } from './harness.ts'

/** Who asks. Project members belong to `here`, and to no other project. */
type Who =
  | 'owner'
  | 'admin'
  | 'projectAdmin'
  | 'projectMember'
  | 'outsider'
  | 'key'
  | 'adminKey'
  | 'writeKey'
  | 'readKey'
  | 'readProjectKey'
  | 'projectKey'
  | 'testKey'
  | 'stranger'

let it: Accounts
const callers = {} as Record<Who, Caller>
let here: string
let pixel: string
let someone: { memberId: string; session: Caller }
let invitee: string

beforeAll(async () => {
  it = await openAccounts()
  here = await it.makeProject('Here')
  pixel = await it.makePixel(here)
  callers.owner = it.owner
  callers.admin = (await it.join('admin')).session
  callers.projectAdmin = (await it.join('member', [{ project_id: here, role: 'admin' }])).session
  callers.projectMember = (await it.join('member', [{ project_id: here, role: 'member' }])).session
  callers.outsider = (await it.join('member')).session
  callers.key = it.key
  callers.adminKey = await it.makeKey(null, 'live', { by: callers.admin })
  callers.writeKey = await it.makeKey(null, 'live', { role: 'write' })
  callers.readKey = await it.makeKey(null, 'live', { role: 'read' })
  callers.projectKey = await it.makeKey(here)
  callers.readProjectKey = await it.makeKey(here, 'live', { role: 'read' })
  callers.testKey = it.testKey
  callers.stranger = (await it.openStranger()).key
  someone = await it.join('member', [{ project_id: here, role: 'member' }])
  invitee = (
    await it.done(it.owner, 'POST /api/v1/organization/user/create', {
      email: `${randomUUID()}@example.com`,
      role: 'admin',
    })
  ).member.member_id
})
afterAll(() => it.close())

const ok = 200
const made = 201
const gone = '404 project not found'
const noPixel = '404 pixel not found'
const noProjectNamed = '400 invalid_parameter'
const noMember = '404 member not found'
const noAudience = '404 audience not found'
const anAudience = `/api/v1/audiences/${randomUUID()}`
/** What of an audience tells who its people are. */
const namesPeople = ['/records', '/download', '/explain', `/builds/${randomUUID()}/changes`].map(
  (path) =>
    `GET ${anAudience}${path}?project_id=HERE${path === '/explain' ? '&email=a@example.com' : ''}`,
)
const no = '403 forbidden'
const refused = no
const theirOwn = ok
/** All that keys without administration have of these routes. */
const forEveryKey = [
  'GET /api/v1/organization',
  'GET /api/v1/project/list',
  'GET /api/v1/project/activity',
  'GET /api/v1/project/retrieve/HERE',
  'GET /api/v1/pixel/list?project_id=HERE',
  'GET /api/v1/pixel/retrieve/PIXEL',
  'GET /api/v1/pixel/activity/PIXEL',
  'GET /api/v1/whoami',
  'GET /api/v3/events/web_event?project_id=HERE',
  'GET /api/v3/events/web_event/counts',
  'GET /api/v3/events/resolution_hem?project_id=HERE',
  'GET /api/v3/events/resolution_hem?pixel_id=PIXEL',
  'GET /api/v1/events/scan_estimate?project_id=HERE&start_ms=0&end_ms=1&filter=has_profile:eq:true',
  'GET /api/v1/rejected_events?project_id=HERE',
  'GET /api/v1/resolution/statistics?project_id=HERE',
  'GET /api/v1/lookup?email=nobody@example.com',
  ...namesPeople,
]

/** One line for each route: how it is asked, and what each caller gets who does not get `others`. */
const table: [
  string,
  () => Json | undefined,
  Partial<Record<Who, number | string>>,
  others: number | string,
][] = [
  ['GET /api/v1/organization', () => undefined, { projectKey: refused, stranger: theirOwn }, ok],
  [
    'PUT /api/v1/organization',
    () => ({ name: 'Demo organization' }),
    { owner: ok, admin: ok, key: ok, adminKey: ok, testKey: ok, stranger: theirOwn },
    no,
  ],
  [
    'DELETE /api/v1/organization',
    () => ({ confirm: 'not its name', events: 'keep' }),
    {
      owner: '400 invalid_parameter',
      key: '400 invalid_parameter',
      testKey: '400 invalid_parameter',
      stranger: '400 invalid_parameter',
    },
    no,
  ],
  [
    'POST /api/v1/organization/user/create',
    () => ({ email: `${randomUUID()}@example.com`, role: 'admin' }),
    { owner: made, admin: made, key: made, adminKey: made, testKey: made, stranger: made },
    no,
  ],
  [
    'POST /api/v1/organization/user/create',
    () => ({ email: `${randomUUID()}@example.com`, role: 'owner' }),
    { owner: made, key: made, testKey: made, stranger: made },
    no,
  ],
  ['GET /api/v1/organization/user/list', () => undefined, { projectKey: refused }, ok],
  [
    'GET /api/v1/organization/user/retrieve/SOMEONE',
    () => undefined,
    { projectKey: refused, testKey: noMember, stranger: noMember },
    ok,
  ],
  [
    'PUT /api/v1/organization/user/update',
    () => ({ member_id: someone.memberId, name: 'Someone' }),
    { owner: ok, admin: ok, key: ok, adminKey: ok, testKey: noMember, stranger: noMember },
    no,
  ],
  [
    'PUT /api/v1/organization/user/update',
    () => ({ member_id: invitee, renew_invitation: true }),
    { owner: ok, admin: ok, key: ok, adminKey: ok, testKey: noMember, stranger: noMember },
    no,
  ],
  [
    'POST /api/v1/project/create',
    () => ({ name: 'New' }),
    { owner: made, admin: made, key: made, adminKey: made, testKey: made, stranger: made },
    no,
  ],
  ['GET /api/v1/project/list', () => undefined, { projectKey: refused }, ok],
  ['GET /api/v1/project/activity', () => undefined, { projectKey: refused }, ok],
  ['GET /api/v1/project/retrieve/HERE', () => undefined, { outsider: gone, stranger: gone }, ok],
  [
    'PUT /api/v1/project/update',
    () => ({ project_id: here, name: 'Here' }),
    { projectMember: no, outsider: gone, stranger: gone },
    ok,
  ],
  [
    'POST /api/v1/project/user/create',
    () => ({ project_id: here, member_id: someone.memberId, role: 'member' }),
    { projectMember: no, outsider: gone, projectKey: refused, testKey: noMember, stranger: gone },
    '409 conflict',
  ],
  [
    'GET /api/v1/project/user/list?project_id=HERE',
    () => undefined,
    { outsider: gone, projectKey: refused, stranger: gone },
    ok,
  ],
  [
    'GET /api/v1/project/user/retrieve/SOMEONE?project_id=HERE',
    () => undefined,
    {
      outsider: gone,
      projectKey: refused,
      testKey: '404 project member not found',
      stranger: gone,
    },
    ok,
  ],
  [
    'PUT /api/v1/project/user/update',
    () => ({ project_id: here, member_id: someone.memberId, role: 'member' }),
    {
      projectMember: no,
      outsider: gone,
      projectKey: refused,
      testKey: '404 project member not found',
      stranger: gone,
    },
    ok,
  ],
  [
    'DELETE /api/v1/project/user/delete',
    () => ({ project_id: here, member_id: randomUUID() }),
    { projectMember: no, outsider: gone, projectKey: refused, stranger: gone },
    '404 project member not found',
  ],
  [
    'POST /api/v1/pixel/create',
    () => ({ project_id: here, name: 'New' }),
    { projectMember: no, outsider: gone, stranger: gone },
    made,
  ],
  [
    'GET /api/v1/pixel/list?project_id=HERE',
    () => undefined,
    { outsider: gone, stranger: gone },
    ok,
  ],
  [
    'GET /api/v1/pixel/retrieve/PIXEL',
    () => undefined,
    { outsider: noPixel, stranger: noPixel },
    ok,
  ],
  [
    'GET /api/v1/pixel/activity/PIXEL',
    () => undefined,
    { outsider: noPixel, stranger: noPixel },
    ok,
  ],
  [
    'GET /api/v1/pixel/identify-secrets/PIXEL',
    () => undefined,
    { projectMember: no, outsider: noPixel, stranger: noPixel },
    ok,
  ],
  [
    'POST /api/v1/pixel/identify-secrets/retire',
    () => ({ pixel_id: pixel }),
    { projectMember: no, outsider: noPixel, stranger: noPixel },
    ok,
  ],
  [
    'POST /api/v1/pixel/identify-secrets/rotate',
    () => ({ pixel_id: pixel }),
    // The first of those who may has rotated it.
    { owner: ok, projectMember: no, outsider: noPixel, testKey: ok, stranger: noPixel },
    '409 conflict',
  ],
  [
    'PUT /api/v1/pixel/update',
    () => ({ pixel_id: pixel, name: 'P' }),
    { projectMember: no, outsider: noPixel, stranger: noPixel },
    ok,
  ],
  ['DELETE /api/v1/pixel/delete', () => ({ pixel_id: randomUUID(), events: 'keep' }), {}, noPixel],
  ['GET /api/v1/whoami', () => undefined, {}, ok],
  // Data, read in the dashboard: members read their projects, and who visitors are as admins.
  [
    'GET /api/v3/events/web_event?project_id=HERE',
    () => undefined,
    { outsider: gone, stranger: gone },
    ok,
  ],
  [
    'GET /api/v3/events/web_event/counts',
    () => undefined,
    { projectAdmin: noProjectNamed, projectMember: noProjectNamed, outsider: noProjectNamed },
    ok,
  ],
  [
    'GET /api/v3/events/resolution_hem?project_id=HERE',
    () => undefined,
    { projectMember: no, outsider: gone, stranger: gone },
    ok,
  ],
  ...namesPeople.map((route): (typeof table)[number] => [
    route,
    () => undefined,
    { projectMember: no, outsider: gone, stranger: gone },
    noAudience,
  ]),
  [
    'GET /api/v1/events/scan_estimate?project_id=HERE&start_ms=0&end_ms=1&filter=has_profile:eq:true',
    () => undefined,
    { projectMember: no, outsider: gone, stranger: gone },
    ok,
  ],
  [
    'GET /api/v3/events/resolution_hem?pixel_id=PIXEL',
    () => undefined,
    { projectMember: no, outsider: noPixel, stranger: noPixel },
    ok,
  ],
  [
    'GET /api/v1/rejected_events?project_id=HERE',
    () => undefined,
    { outsider: gone, stranger: gone },
    ok,
  ],
  [
    'GET /api/v1/resolution/statistics?project_id=HERE',
    () => undefined,
    { outsider: gone, stranger: gone },
    ok,
  ],
  [
    'GET /api/v1/lookup?email=nobody@example.com',
    () => undefined,
    { projectAdmin: no, projectMember: no, outsider: no },
    ok,
  ],
  [
    'DELETE /api/v1/project/delete',
    () => ({ project_id: here, events: 'keep' }),
    // What may be done is asked below, on a project of its own.
    {
      owner: 'skip',
      admin: 'skip',
      key: 'skip',
      adminKey: 'skip',
      testKey: ok,
      outsider: gone,
      stranger: gone,
    },
    no,
  ],
  [
    'DELETE /api/v1/organization/user/delete',
    () => ({ member_id: someone.memberId }),
    {
      owner: 'skip',
      admin: 'skip',
      key: 'skip',
      adminKey: 'skip',
      testKey: noMember,
      stranger: noMember,
    },
    no,
  ],
]

const everybody: Who[] = [
  ...(['owner', 'admin', 'projectAdmin', 'projectMember', 'outsider'] as const),
  ...(['key', 'adminKey', 'projectKey', 'testKey', 'stranger'] as const),
  ...(['writeKey', 'readKey', 'readProjectKey'] as const),
]

describe.each(table)('%s', (route, body, expected, others) => {
  const expectedOf = (who: Who) => {
    const isRestricted = ['writeKey', 'readKey', 'readProjectKey'].includes(who)
    if (isRestricted && !forEveryKey.includes(route)) return no
    return expected[who === 'readProjectKey' ? 'projectKey' : who] ?? others
  }
  test.each(everybody.filter((who) => expected[who] !== 'skip'))('as %s', async (who) => {
    const path = route
      .replace('HERE', here)
      .replace('PIXEL', pixel)
      .replace('SOMEONE', someone.memberId)
    const answer = await it.ask(callers[who], path, body())
    const seen = answer.status < 300 ? answer.status : `${answer.status} ${answer.body.error}`
    expect(seen).toBe(expectedOf(who))
  })
})

test('keys that read or write do so with data, and no more', async () => {
  const campaign = { project_id: here, name: 'C', status: 'draft', start_date: '2026-01-01' }
  const { campaign: made } = await it.done(callers.writeKey, 'POST /api/v1/campaigns', campaign)
  const routes = [
    ['POST /api/v1/campaigns', campaign],
    [`PATCH /api/v1/campaigns/${made.campaign_id}`, { name: 'D' }],
    ['POST /api/v1/campaigns/events', { events: [{}] }],
    ['PUT /api/v1/billing/limits', { budgets: [], limits: [] }],
    ['GET /api/v1/billing/limits', undefined],
    ['POST /api/v1/privacy/opt-outs', { cookie_id: randomUUID() }],
    [`GET /api/v1/privacy/subject?cookie_id=${randomUUID()}`, undefined],
    ['GET /api/v3/events/web_event', undefined],
    [`GET /api/v1/campaigns/${made.campaign_id}`, undefined],
    ['POST /api/v1/lookup', { email: 'nobody@example.com' }],
  ] as const
  const statusesOf = async (who: Who) =>
    Promise.all(
      routes.map(async ([route, body]) => (await it.ask(callers[who], route, body)).status),
    )
  expect(await statusesOf('readKey')).toEqual([403, 403, 403, 403, 403, 403, 403, 200, 200, 200])
  expect(await statusesOf('writeKey')).toEqual([201, 200, 200, 403, 403, 403, 403, 200, 200, 200])
  expect(await statusesOf('adminKey')).toEqual([201, 200, 200, 200, 200, 201, 200, 200, 200, 200])
})

test('an admin’s key makes nobody an owner, and does not delete the organization', async () => {
  const admin = await it.join('admin')
  const key = await it.makeKey(null, 'live', { by: admin.session })
  for (const [route, body] of [
    ['PUT /api/v1/organization/user/update', { member_id: admin.memberId, role: 'owner' }],
    [
      'POST /api/v1/organization/user/create',
      { email: `${randomUUID()}@example.com`, role: 'owner' },
    ],
    ['DELETE /api/v1/organization', { confirm: 'Demo organization', events: 'keep' }],
  ] as const) {
    const answer = await it.ask(key, route, body)
    expect([route, answer.status, answer.body.error]).toEqual([route, 403, 'forbidden'])
  }
})

test('nobody makes a key that may more than they may', async () => {
  const make = async (who: Who, role: string, project_id: string | null) =>
    (
      await it.ask(callers[who], 'POST /dashboard/keys', {
        name: 'k',
        mode: 'live',
        project_id,
        role,
      })
    ).status
  expect(await make('admin', 'owner', null)).toBe(403)
  expect(await make('projectAdmin', 'owner', here)).toBe(403)
  expect(await make('projectAdmin', 'read', null)).toBe(403)
  expect(await make('owner', 'owner', here)).toBe(403)
  expect(await make('owner', 'owner', null)).toBe(201)
  expect(await make('admin', 'admin', null)).toBe(201)
  expect(await make('projectAdmin', 'admin', here)).toBe(201)
})

test('who is demoted makes and invites nobody more, from that very moment', async () => {
  const { memberId, session } = await it.join('admin')
  const make = () =>
    it.ask(session, 'POST /dashboard/keys', { name: 'k', mode: 'live', role: 'admin' })
  const invite = () =>
    it.ask(session, 'POST /api/v1/organization/user/create', {
      email: `${randomUUID()}@example.com`,
      role: 'admin',
    })
  expect([(await make()).status, (await invite()).status]).toEqual([201, 201])
  await it.done(it.owner, 'PUT /api/v1/organization/user/update', {
    member_id: memberId,
    role: 'member',
    api_keys: 'revoke',
  })
  expect([(await make()).status, (await invite()).status]).toEqual([403, 403])
})

test('owners, admins and keys of the organization delete projects and members', async () => {
  for (const who of ['owner', 'admin', 'key'] as const) {
    const project_id = await it.makeProject()
    await it.done(callers[who], 'DELETE /api/v1/project/delete', { project_id, events: 'keep' })
    const member_id = (await it.join('member')).memberId
    await it.done(callers[who], 'DELETE /api/v1/organization/user/delete', { member_id })
  }
})

test('only owners change and remove owners', async () => {
  const second = await it.join('owner')
  const [change, remove] = [
    { member_id: second.memberId, name: 'Second' },
    { member_id: second.memberId },
  ]
  for (const [route, body] of [
    ['PUT /api/v1/organization/user/update', change],
    ['DELETE /api/v1/organization/user/delete', remove],
  ] as const) {
    expect((await it.ask(callers.admin, route, body)).body.error).toBe('forbidden')
  }
  const promoted = { member_id: someone.memberId, role: 'owner' }
  expect(
    (await it.ask(callers.admin, 'PUT /api/v1/organization/user/update', promoted)).body.error,
  ).toBe('forbidden')
  await it.done(it.owner, 'PUT /api/v1/organization/user/update', change)
  await it.done(it.owner, 'DELETE /api/v1/organization/user/delete', remove)
})

test('a plain member sees their projects alone, and of other members only who shares them', async () => {
  const elsewhere = await it.makeProject('Elsewhere')
  const other = await it.join('member', [
    { project_id: elsewhere, role: 'admin' },
    { project_id: here, role: 'member' },
  ])
  const { projects } = await it.done(callers.projectMember, 'GET /api/v1/project/list')
  expect(projects.map(({ project_id }: Json) => project_id)).toEqual([here])
  expect((await it.done(callers.outsider, 'GET /api/v1/project/list')).projects).toEqual([])
  const retrieve = `GET /api/v1/organization/user/retrieve/${other.memberId}`
  expect((await it.done(callers.projectMember, retrieve)).member.projects).toEqual([
    { project_id: here, role: 'member' },
  ])
  expect((await it.done(callers.admin, retrieve)).member.projects).toHaveLength(2)
})

test('a project key has its own project when it names none, and no other', async () => {
  const elsewhere = await it.makeProject('Elsewhere')
  const theirs = await it.makePixel(elsewhere)
  const { pixels } = await it.done(callers.projectKey, 'GET /api/v1/pixel/list')
  expect(pixels.map(({ pixel_id }: Json) => pixel_id)).toContain(pixel)
  expect(pixels.map(({ pixel_id }: Json) => pixel_id)).not.toContain(theirs)
  for (const project_id of [elsewhere, randomUUID()]) {
    for (const [route, body] of [
      [`GET /api/v1/project/retrieve/${project_id}`, undefined],
      ['PUT /api/v1/project/update', { project_id, name: 'x' }],
      [`GET /api/v1/pixel/list?project_id=${project_id}`, undefined],
      [`GET /api/v1/pixel/retrieve/${pixel}?project_id=${project_id}`, undefined],
      ['POST /api/v1/pixel/create', { project_id, name: 'x' }],
      ['PUT /api/v1/pixel/update', { pixel_id: pixel, project_id, name: 'x' }],
      ['DELETE /api/v1/pixel/delete', { pixel_id: pixel, project_id, events: 'keep' }],
    ] as const) {
      const answer = await it.ask(callers.projectKey, route, body)
      expect([route, answer.status, answer.body.error]).toEqual([route, 401, 'Invalid API key'])
    }
  }
  const answer = await it.ask(callers.projectKey, `GET /api/v1/pixel/retrieve/${theirs}`)
  expect([answer.status, answer.body.error]).toEqual([401, 'Invalid API key'])
})

test('a list of pixels has to say of which project, unless the key does', async () => {
  const answer = await it.ask(callers.key, 'GET /api/v1/pixel/list')
  expect(answer).toMatchObject({ status: 400, body: { parameter: 'project_id' } })
})

test('a member of another organization cannot be put into a project', async () => {
  const stranger = await it.openStranger()
  const answers = await Promise.all(
    [{ member_id: stranger.member }, { email: `${stranger.member}@strangers.example` }].map((who) =>
      it.ask(it.key, 'POST /api/v1/project/user/create', {
        project_id: here,
        role: 'member',
        ...who,
      }),
    ),
  )
  expect(answers.map(({ body }) => body.error)).toEqual(['member not found', 'member not found'])
})

test('another organization’s ids answer exactly as unknown ones', async () => {
  const stranger = await it.openStranger()
  const answersOf = async (ids: { project: string; pixel: string; member: string }) => {
    const asked = [
      it.ask(it.key, `GET /api/v1/project/retrieve/${ids.project}`),
      it.ask(it.key, 'PUT /api/v1/project/update', { project_id: ids.project, name: 'x' }),
      it.ask(it.key, 'DELETE /api/v1/project/delete', {
        project_id: ids.project,
        events: 'delete',
      }),
      it.ask(it.key, `GET /api/v1/project/user/list?project_id=${ids.project}`),
      it.ask(it.key, `GET /api/v1/pixel/retrieve/${ids.pixel}`),
      it.ask(it.key, `GET /api/v1/pixel/activity/${ids.pixel}`),
      it.ask(it.key, 'PUT /api/v1/pixel/update', { pixel_id: ids.pixel, name: 'x' }),
      it.ask(it.key, 'DELETE /api/v1/pixel/delete', { pixel_id: ids.pixel, events: 'delete' }),
      it.ask(it.key, `GET /api/v1/organization/user/retrieve/${ids.member}`),
      it.ask(it.key, 'PUT /api/v1/organization/user/update', { member_id: ids.member, name: 'x' }),
      it.ask(it.key, 'DELETE /api/v1/organization/user/delete', { member_id: ids.member }),
    ]
    return (await Promise.all(asked)).map(({ status, body: { request_id: _, ...body } }) => ({
      status,
      body,
    }))
  }
  const unknown = { project: randomUUID(), pixel: randomUUID(), member: randomUUID() }
  const answers = await answersOf(stranger)
  expect(answers).toEqual(await answersOf(unknown))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]))
  const { rowCount } = await it.postgres.query(
    'SELECT FROM event_deletions WHERE organization_id = $1',
    [stranger.organization],
  )
  expect(rowCount).toBe(0)
})
