/** What becomes of custom events that differ from the tracking plan of their project, and its file. */
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { packageRoot } from '../../../collector/platform/paths.ts'
import type { BeaconReceipt } from '../../../schemas/beacon.ts'
import { beaconOf, customEvent, postBeacon, receiptOf } from '../../harness/api.ts'
import { runCommandLine } from '../../harness/commands.ts'
import { waitFor } from '../../harness/service.ts'
import { type Accounts, type Caller, type Json, openAccounts } from '../accounts/harness.ts'

let it: Accounts
beforeAll(async () => {
  it = await openAccounts()
})
afterAll(() => it.close())

const path = '/api/v1/tracking-plan'
const signedUp = {
  description: 'A visitor created an account.',
  schema: {
    type: 'object',
    required: ['plan'],
    properties: {
      plan: { enum: ['free', 'pro'] },
      seats: { type: 'integer', minimum: 1, description: 'Bought seats.' },
      code: { type: 'string', pattern: '^[A-Z]{3}$' },
    },
    additionalProperties: false,
  },
}
const plan = (more: object = {}) => ({
  on_violation: 'mark',
  on_unplanned: 'accept',
  events: { 'Signed up': signedUp },
  ...more,
})
const event = (name: string, properties: object = {}) => {
  const made = customEvent()
  return { ...made, event_data: { ...made.event_data, name, properties } }
}

/** A pixel of a project with this plan; waits until the collector has both. */
async function openPlanned(given: object) {
  const project_id = await it.makeProject()
  const pixel_id = await it.makePixel(project_id)
  const send = async (...events: object[]): Promise<BeaconReceipt> => {
    const answer = await postBeacon(it.url, beaconOf(it.service, events, { pixel_id }))
    if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`)
    return receiptOf(answer)
  }
  await waitFor('the pixel', () => send().catch(() => null))
  const put = (more: object = given) => it.done(it.key, `PUT ${path}`, { project_id, ...more })
  await put()
  const rejects = (given as Json).on_violation === 'reject'
  const probe = () => event('Signed up', { plan: 'a probe' })
  const isApplied = async () => {
    const { rejected } = await send(probe())
    return rejects ? rejected.length === 1 : (await marks()).some((mark) => mark !== null)
  }
  const rows = async (): Promise<Json[]> =>
    (
      await it.done(
        it.key,
        `GET /api/v3/events/web_event?pixel_id=${pixel_id}&limit=1000&select=event_id,event_data`,
      )
    ).rows
  const marks = async () => (await rows()).map(({ event_data }) => markOf(event_data))
  await waitFor('the plan', isApplied)
  return { project_id, pixel_id, send, put, rows }
}

const dataOf = (event_data: Json) =>
  typeof event_data === 'string' ? JSON.parse(event_data) : event_data
const markOf = (event_data: Json): string | null => dataOf(event_data).plan_violation ?? null

/** The mark of a stored event, once it is readable. */
const storedMark = ({ rows }: Awaited<ReturnType<typeof openPlanned>>, event_id: string) =>
  waitFor('the event', async () => {
    const row = (await rows()).find((row) => row.event_id === event_id)
    return row && { mark: markOf(row.event_data) }
  })

describe('with mark', () => {
  test('a violating event is stored with what it violates, and can be filtered by it', async () => {
    const project = await openPlanned(plan())
    const bad = event('Signed up', { plan: 'gold' })
    const good = event('Signed up', { plan: 'pro', seats: 2, code: 'ABC' })
    const liar = event('Signed up', { plan: 'free' })
    ;(liar.event_data as Json).plan_violation = 'not true'
    const vitals = event('web_vitals', { lcp: 1 })
    expect(await project.send(bad, good, liar, vitals)).toMatchObject({ accepted: 4 })
    expect(await storedMark(project, bad.event_id)).toEqual({
      mark: '/event_data/properties/plan: must be one of "free", "pro" (tracking plan)',
    })
    for (const { event_id } of [good, liar, vitals])
      expect(await storedMark(project, event_id)).toEqual({ mark: null })
    const filter = encodeURIComponent('event_data.plan_violation:like:%properties/plan%')
    const { rows } = await it.done(
      it.key,
      `GET /api/v3/events/web_event?pixel_id=${project.pixel_id}&filter=${filter}&select=event_id&limit=1000`,
    )
    const ids = rows.map(({ event_id }: Json) => event_id)
    expect(ids).toContain(bad.event_id)
    expect(ids).not.toContain(good.event_id)
  })

  test('events outside the plan are listed with an example that shows no value', async () => {
    const project = await openPlanned(plan())
    const secret = `value-${randomUUID()}`
    const newest = event('Left', { reason: secret, after: 3, tags: ['a'] })
    await project.send(event('Left', {}), newest, event('web_vitals', { lcp: 1 }))
    await storedMark(project, newest.event_id)
    const answer = await it.ask(it.key, `GET ${path}/unplanned?project_id=${project.project_id}`)
    expect(answer.body).toEqual({
      events: [
        {
          name: 'Left',
          events: 2,
          last_event_at: expect.any(String),
          example: {
            event_id: expect.any(String),
            schema: expect.objectContaining({ type: 'object' }),
          },
        },
      ],
    })
    expect(JSON.stringify(answer.body)).not.toContain(secret)
  })
})

describe('with reject', () => {
  test('violating and unplanned events are rejected with the reason, and listed as rejected events', async () => {
    const project = await openPlanned(plan({ on_violation: 'reject', on_unplanned: 'reject' }))
    const bad = event('Signed up', { plan: 'pro', code: 'abc' })
    const other = event('Unknown')
    const good = event('Signed up', { plan: 'pro' })
    const { accepted, rejected } = await project.send(bad, other, good)
    expect(accepted).toBe(1)
    expect(rejected).toMatchObject([
      {
        event_id: bad.event_id,
        code: 'invalid_event',
        path: '/event_data/properties/code',
        message: 'must match ^[A-Z]{3}$ (tracking plan)',
      },
      { event_id: other.event_id, path: '/event_data/name' },
    ])
    const listed = await waitFor('the rejected events', async () => {
      const { rejected_events } = await it.done(
        it.key,
        `GET /api/v1/rejected_events?pixel_id=${project.pixel_id}`,
      )
      const ids = rejected_events.map(({ event_id }: Json) => event_id)
      return ids.includes(bad.event_id) && ids.includes(other.event_id) ? rejected_events : null
    })
    expect(listed.find(({ event_id }: Json) => event_id === bad.event_id)).toMatchObject({
      path: '/event_data/properties/code',
    })
  })

  test('long integers are judged as numbers and keep their digits', async () => {
    const project = await openPlanned(
      plan({
        on_violation: 'reject',
        events: {
          'Signed up': signedUp,
          Order: { schema: { type: 'object', properties: { id: { type: 'integer' } } } },
        },
      }),
    )
    const made = event('Order', { id: 1 })
    const body = JSON.stringify(
      beaconOf(it.service, [made], { pixel_id: project.pixel_id }),
    ).replace('"id":1}', '"id":9007199254740993123}')
    const answer = await fetch(`${it.url}/e`, { method: 'POST', body })
    expect(await answer.json()).toMatchObject({ accepted: 1, rejected: [] })
    await storedMark(project, made.event_id)
    const text = JSON.stringify(await project.rows())
    expect(text).toContain('9007199254740993123')
  })
})

test('a plan is refused with the place of its fault, a stale version, and without the admin role', async () => {
  const project_id = await it.makeProject()
  const put = (caller: Caller, more: object) =>
    it.ask(caller, `PUT ${path}`, { project_id, ...plan(), ...more })
  const pattern = { type: 'object', properties: { a: { pattern: '(a)\\1' } } }
  expect(await put(it.key, { events: { Bad: { schema: pattern } } })).toMatchObject({
    status: 400,
    body: { parameter: 'events.Bad.schema.properties.a.pattern' },
  })
  expect(await put(it.key, {})).toMatchObject({
    status: 200,
    body: { tracking_plan: { version: 1 } },
  })
  expect(await put(it.key, { version: 9 })).toMatchObject({
    status: 409,
    body: { code: 'version_conflict', tracking_plan: { version: 1 } },
  })
  const { session } = await it.join('member', [{ project_id, role: 'member' }])
  expect((await put(session, {})).status).toBe(403)
  expect((await it.ask(session, `GET ${path}?project_id=${project_id}`)).status).toBe(200)
  const { entries } = await it.done(it.owner, 'GET /dashboard/audit')
  expect(entries.find(({ action }: Json) => action === 'tracking_plan.update')).toMatchObject({
    details: { added: ['Signed up'], on_violation: 'mark' },
  })
})

describe('the file', () => {
  let directory: string
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'footfall-plan-'))
  })
  afterAll(() => rmSync(directory, { recursive: true }))

  const footfall = (...args: string[]) => footfallWith({}, ...args)
  const footfallWith = async (env: Record<string, string>, ...args: string[]) => {
    const { code, stdout, stderr } = await runCommandLine(
      ['plan', ...args],
      {
        FOOTFALL_URL: it.url,
        FOOTFALL_API_KEY: it.demo.api_key,
        FOOTFALL_API_SECRET: it.demo.api_secret,
        ...env,
      },
      { cwd: directory },
    )
    return { code, text: stdout + stderr }
  }
  const write = (content: object) =>
    writeFileSync(join(directory, 'footfall.plan.json'), JSON.stringify(content))

  test('is checked, pushed and pulled, and check tells whether the service has it', async () => {
    const project = await it.makeProject()
    const flags = ['--project', project]
    expect(await footfall('pull', ...flags)).toMatchObject({ code: 1 })
    write(plan())
    expect(await footfall('check', ...flags)).toMatchObject({
      code: 1,
      text: expect.stringContaining('+ Signed up'),
    })
    expect(await footfall('push', ...flags)).toMatchObject({ code: 0 })
    expect(await footfall('check', ...flags)).toMatchObject({ code: 0 })
    rmSync(join(directory, 'footfall.plan.json'))
    expect(await footfall('pull', ...flags)).toMatchObject({ code: 0 })
    expect(JSON.parse(readFileSync(join(directory, 'footfall.plan.json'), 'utf8'))).toEqual(plan())
    write(plan({ events: {}, on_violation: 'reject' }))
    expect(await footfall('push', ...flags)).toMatchObject({
      code: 0,
      text: expect.stringMatching(/- Signed up\n~ on_violation: mark → reject\n/),
    })
    write({ ...plan(), events: { A: { schema: { type: 'text' } } } })
    expect(await footfall('push', ...flags)).toMatchObject({
      code: 1,
      text: expect.stringContaining('/events/A/schema/type must be "object"'),
    })
  })

  test('names the projects of a key that can access several, and refused keys in one line', async () => {
    const project = await it.makeProject()
    write(plan())
    const ended = await footfall('push')
    expect(ended.code).toBe(1)
    expect(ended.text).toMatch(
      /^footfall: The key can access \d+ projects\. Name one with --project ID$/m,
    )
    expect(ended.text).toContain(`  ${project}  `)
    const refused = await footfallWith({ FOOTFALL_API_SECRET: 'wrong' }, 'check')
    expect(refused.code).toBe(1)
    expect(refused.text.trim().split('\n')).toEqual([expect.stringMatching(/^footfall: /)])
  })

  test('gives TypeScript types, which accept planned events and refuse others', async () => {
    write(
      plan({
        on_unplanned: 'reject',
        events: {
          'Signed up': signedUp,
          Closed: {
            schema: {
              type: 'object',
              properties: {
                'why*/': { type: ['string', 'null'] },
                at: { type: 'array', items: { type: 'number' } },
              },
            },
          },
        },
      }),
    )
    expect(await footfall('types', '--out', 'footfall.d.ts')).toMatchObject({ code: 0 })
    const declarations = join(packageRoot, 'pixel/footfall.d.ts')
    writeFileSync(
      join(directory, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          types: [],
          lib: ['es2022', 'dom'],
          module: 'esnext',
          moduleResolution: 'bundler',
          paths: { 'footfall-pixel/pixel': [declarations] },
        },
        files: ['use.ts'],
      }),
    )
    const use = (lines: string[]) => {
      writeFileSync(join(directory, 'use.ts'), `import './footfall.d.ts'\n${lines.join('\n')}\n`)
      const tsc = join(packageRoot, 'node_modules/typescript/bin/tsc')
      return spawnSync(process.execPath, [tsc, '-p', directory], { encoding: 'utf8' }).stdout
    }
    expect(
      use([
        "footfall('track', 'Signed up', { plan: 'pro', seats: 2 })",
        "footfall('track', 'Closed')",
        "footfall('track', 'Closed', { at: [1], 'why*/': null })",
        "footfall('page')",
        "window.footfall('consent', 'granted')",
      ]),
    ).toBe('')
    const wrong = [
      "footfall('track', 'Signed up', { plan: 'gold' })",
      "footfall('track', 'Signed up')",
      "footfall('track', 'Signed up', { plan: 'pro', extra: 1 })",
      "footfall('track', 'Closed', { at: ['x'] })",
      "footfall('track', 'Unknown')",
    ]
    const errors = use(wrong)
    for (const [index, line] of wrong.entries())
      expect(errors, line).toMatch(new RegExp(`use\\.ts\\(${index + 2},`))
  })
})
