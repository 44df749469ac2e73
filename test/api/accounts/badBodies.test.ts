import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quickest } from '../../harness/timing.ts'
import { type Accounts, type Json, openAccounts } from './harness.ts'

let it: Accounts
beforeAll(async () => {
  it = await openAccounts()
})
afterAll(() => it.close())

const id = randomUUID()
const long = 'x'.repeat(201)

/** A body that each route would take, and what makes it bad: `[the field named, what is wrong in it]`. */
const name: [string, Json][] = [
  ['name', ''],
  ['name', '   '],
  ['name', long],
  ['name', 5],
  ['name', null],
  ['name', 'a\u0000b'],
  ['name', '\ud800'],
]
const version: [string, Json][] = [
  ['version', '1'],
  ['version', 0],
  ['version', 1.5],
]
const project: [string, Json][] = [
  ['project_id', 'not-a-uuid'],
  ['project_id', undefined],
]
const events: [string, Json][] = [
  ['events', undefined],
  ['events', 'maybe'],
]
const routes: [string, Json, [string, Json][]][] = [
  ['PUT /api/v1/organization', {}, [...name, ...version, ['secret_required', 'yes']]],
  [
    'DELETE /api/v1/organization',
    { confirm: 'x', events: 'keep' },
    [...events, ['confirm', undefined]],
  ],
  [
    'POST /api/v1/organization/user/create',
    { email: 'a@b.example', role: 'member' },
    [
      ...name,
      ['email', undefined],
      ['email', 'nobody'],
      ['email', `${'x'.repeat(250)}@b.example`],
      ['role', undefined],
      ['role', 'king'],
      ['projects', id],
      ['projects[0].project_id', [{ role: 'member' }]],
      ['projects[0].role', [{ project_id: id, role: 'owner' }]],
      ['projects[0].more', [{ project_id: id, role: 'admin', more: 1 }]],
    ],
  ],
  [
    'PUT /api/v1/organization/user/update',
    { member_id: id },
    [
      ...name,
      ...version,
      ['member_id', undefined],
      ['member_id', 'x'],
      ['role', 1],
      ['renew_invitation', false],
    ],
  ],
  [
    'DELETE /api/v1/organization/user/delete',
    { member_id: id },
    [
      ['member_id', undefined],
      ['member_id', 7],
    ],
  ],
  ['POST /api/v1/project/create', { name: 'x' }, [...name, ['name', undefined]]],
  ['PUT /api/v1/project/update', { project_id: id }, [...name, ...version, ...project]],
  [
    'DELETE /api/v1/project/delete',
    { project_id: id, events: 'keep' },
    [...project, ['events', 'maybe']],
  ],
  [
    'POST /api/v1/project/user/create',
    { project_id: id, member_id: id, role: 'member' },
    [...project, ['member_id', undefined], ['role', 'owner'], ['member_id', 'x']],
  ],
  [
    'PUT /api/v1/project/user/update',
    { project_id: id, member_id: id, role: 'admin' },
    [...project, ['role', 'owner']],
  ],
  [
    'DELETE /api/v1/project/user/delete',
    { project_id: id, member_id: id },
    [...project, ['member_id', undefined]],
  ],
  [
    'POST /api/v1/pixel/create',
    { project_id: id, name: 'x' },
    [
      ...name,
      ...project,
      ['active', 'yes'],
      ['allowed_origins', 'https://shop.example'],
      ['allowed_origins', Array(101).fill('https://shop.example')],
      ['settings.consent', { consent: 'never' }],
      ['settings.retention_days', { retention_days: 0 }],
      ['settings.retention_days', { retention_days: 100_000 }],
      ['settings.drop_bots', { drop_bots: 'no' }],
      ['settings.nonsense', { nonsense: 1 }],
      ['settings', { search_parameters: ['a\u0000'] }],
    ],
  ],
  [
    'PUT /api/v1/pixel/update',
    { pixel_id: id },
    [
      ...name,
      ...version,
      ['pixel_id', undefined],
      ['project_id', 'x'],
      ['settings.text_length_max', { text_length_max: '5' }],
    ],
  ],
  [
    'DELETE /api/v1/pixel/delete',
    { pixel_id: id, events: 'keep' },
    [
      ['events', 'maybe'],
      ['pixel_id', undefined],
    ],
  ],
  [
    'POST /dashboard/session',
    { email: 'a@b.example', password: 'x' },
    [
      ['email', 1],
      ['password', undefined],
    ],
  ],
  [
    'POST /dashboard/invitation/token',
    { name: 'x', password: 'x'.repeat(12) },
    [...name, ['password', 'x'.repeat(11)], ['password', long]],
  ],
  [
    'PUT /dashboard/password',
    { current_password: 'x', new_password: 'x'.repeat(12) },
    [
      ['current_password', undefined],
      ['new_password', 'too short'],
      ['new_password', long],
    ],
  ],
  [
    'POST /dashboard/keys',
    { name: 'x', mode: 'live' },
    [...name, ['mode', 'dead'], ['project_id', 'x']],
  ],
  [
    'POST /auth/v1/login',
    { email: 'a@b.example', password: 'x' },
    [
      ['email', undefined],
      ['password', 5],
    ],
  ],
]

const refusal = async (route: string, body: Json) => {
  const { status, body: answer } = await it.ask(it.owner, route, body)
  return { status, error: answer.error, parameter: answer.parameter, message: answer.message }
}

describe.each(routes)('%s', (route, good, faults) => {
  const cases = [...faults, ['unknown', 1] as [string, Json]]

  test.each(cases)('%s: %j', async (field, value) => {
    const [top] = field.split(/[.[]/) as [string]
    const answer = await refusal(route, { ...good, [top]: value })
    expect(answer).toEqual({
      status: 400,
      error: 'invalid_parameter',
      parameter: field,
      message: expect.stringMatching(new RegExp(`^${field.replace(/[.[\]]/g, '\\$&')}: .`)),
    })
  })

  test('no body, and one that is no object', async () => {
    for (const body of [undefined, [], 'text', null]) {
      expect(await refusal(route, body)).toMatchObject({
        status: 400,
        error: expect.stringMatching(/^(invalid_parameter|malformed)$/),
      })
    }
  })
})

test('origins that no browser sends are named by their place', async () => {
  const project_id = it.demo.project_id
  for (const origin of [
    'shop.example',
    'https://shop.example/',
    'https://shop.example/path',
    'https://Shop.example',
    ...[
      'https://shop.example:443',
      'http://shop.example:80',
      'https://user@shop.example',
      '*',
      '',
      'null',
    ],
    'https://',
    'https://a b',
    'javascript:alert(1)',
  ]) {
    const allowed_origins = ['https://shop.example', origin]
    const answer = await refusal('POST /api/v1/pixel/create', {
      project_id,
      name: 'x',
      allowed_origins,
    })
    expect([origin, answer.status, answer.parameter]).toEqual([origin, 400, 'allowed_origins[1]'])
  }
  const good = [
    'https://shop.example',
    'http://localhost:3000',
    'http://[::1]:80'.replace(':80', ':8080'),
  ]
  await it.makePixel(project_id, {
    allowed_origins: [...good, 'capacitor://localhost', 'https://xn--mnchen-3ya.de'],
  })
})

test('a project named twice, and a member named twice', async () => {
  const twice = [
    { project_id: it.demo.project_id, role: 'member' },
    { project_id: it.demo.project_id.toUpperCase(), role: 'admin' },
  ]
  const invite = { email: `${randomUUID()}@example.com`, role: 'member', projects: twice }
  expect(await refusal('POST /api/v1/organization/user/create', invite)).toMatchObject({
    status: 400,
    parameter: 'projects',
  })
  const both = {
    project_id: it.demo.project_id,
    member_id: id,
    email: 'a@b.example',
    role: 'member',
  }
  expect(await refusal('POST /api/v1/project/user/create', both)).toMatchObject({
    status: 400,
    parameter: 'member_id',
  })
})

test('the organization goes only for its name', async () => {
  const { organization } = await it.done(it.owner, 'GET /api/v1/organization')
  for (const confirm of [organization.name.toLowerCase(), '', `${organization.name} `]) {
    expect(await refusal('DELETE /api/v1/organization', { confirm, events: 'keep' })).toMatchObject(
      {
        status: 400,
        parameter: 'confirm',
      },
    )
  }
})

const lists = [
  'GET /api/v1/organization/user/list?',
  'GET /api/v1/project/list?',
  'GET /api/v1/project/user/list?project_id=PROJECT&',
  'GET /api/v1/pixel/list?project_id=PROJECT&',
  'GET /dashboard/audit?',
]
test.each(lists)('%s', async (route) => {
  const ask = (query: string) =>
    refusal(route.replace('PROJECT', it.demo.project_id) + query, undefined)
  for (const limit of ['0', '201', 'x', '-1', '', '1.5', 'true']) {
    expect(await ask(`limit=${limit}`)).toMatchObject({ status: 400, parameter: 'limit' })
  }
  const cursors = [
    'x',
    '',
    Buffer.from(`${'9'.repeat(30)}.${id}`).toString('base64url'),
    '9'.repeat(19),
  ]
  for (const cursor of [...cursors, Buffer.from('1.x').toString('base64url')]) {
    expect(await ask(`cursor=${cursor}`)).toMatchObject({ status: 400, parameter: 'cursor' })
  }
  expect(await ask('more=1')).toMatchObject({ status: 400, parameter: 'more' })
})

test.each([
  'GET /api/v1/project/retrieve/x',
  'GET /api/v1/pixel/retrieve/x',
  'GET /api/v1/pixel/activity/x',
  'GET /api/v1/organization/user/retrieve/x',
  'GET /api/v1/project/user/retrieve/x?project_id=PROJECT',
  'DELETE /dashboard/keys/x',
])('%s: the id in the address is no uuid', async (route) => {
  const answer = await refusal(route.replace('PROJECT', it.demo.project_id), undefined)
  expect(answer).toMatchObject({
    status: 400,
    parameter: expect.stringMatching(/^(project|pixel|member|key)_id$/),
  })
})

describe('a body that is deeper than a stack, or wider than any', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const wide = `{${Array.from({ length: 60_000 }, (_, index) => `"k${index}":1`).join(',')}}`

  test.each([
    ['/dashboard/session', `{"email":${deep},"password":"x"}`],
    ['/auth/v1/login', `{"email":"a@b.example","password":${deep}}`],
    ['/dashboard/password-reset', `{"email":${deep}}`],
    ['/dashboard/session', wide],
    ['/dashboard/session', `{"email":${wide},"password":"x"}`],
  ])('is refused by %s, and soon', async (url, payload) => {
    const headers = { 'content-type': 'application/json' }
    const ask = async () => {
      const answer = await fetch(`${it.url}${url}`, { method: 'POST', headers, body: payload })
      expect(await answer.json()).toMatchObject({ error: 'invalid_parameter' })
    }
    expect(await quickest(5_000, ask)).toBeLessThan(5_000)
  })

  test.each([
    [`${'['.repeat(100)}${']'.repeat(100)}`, 'must be nested at most 100 levels deep'],
    [`[${'1,'.repeat(250_000)}1]`, 'must contain at most 250000 values'],
    [`[${'{},'.repeat(125_000)}1]`, 'must contain at most 250000 values'],
  ])('is not even parsed where no route takes it', async (value, excess) => {
    const headers = { 'content-type': 'application/json' }
    const payload = `{"email":"\\"]","password":${value}}`
    const answer = await fetch(`${it.url}/dashboard/session`, {
      method: 'POST',
      headers,
      body: payload,
    })
    expect(await answer.json()).toMatchObject({
      error: 'invalid_parameter',
      message: `body: ${excess}`,
    })
  })
})

test('a backslash before u0000 is text like any other', async () => {
  const { status } = await it.ask(it.owner, 'POST /api/v1/project/create', { name: 'C:\\u0000' })
  expect(status).toBe(201)
})
