import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { addOptOut, removeOptOut } from '../../../../collector/identity/privacy/optOuts.ts'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { beaconOf, customEvent, postBeacon, receiptOf } from '../../../harness/api.ts'
import { waitFor } from '../../../harness/service.ts'
import { quickest } from '../../../harness/timing.ts'
import type { Caller } from '../../accounts/harness.ts'
import { openPrivacy, type Privacy } from './harness.ts'

let it: Privacy
beforeAll(async () => {
  // Opt-outs reach every process.
  it = await openPrivacy({ apps: 2 })
})
afterAll(() => it.close())

const path = '/api/v1/privacy/opt-outs'

/** Waits until every worker answers so many accepted events of a browser. */
const takes = (pixel: string, cookie: string, accepted: 0 | 1) =>
  waitFor(`${accepted} accepted`, async () =>
    (await Promise.all(Array.from({ length: 8 }, () => it.visit(pixel, cookie)))).every(
      (count) => count === accepted,
    ),
  )

describe('a person who opts out of one organization', () => {
  test('is nobody in its reads within five seconds, and their browsers are not followed', async () => {
    const meetings = [await it.meet()]
    const forget = async () => {
      const { email, hem, cookie } = meetings.at(-1)!
      const { opt_out } = await it.done(it.key, `POST ${path}`, { email })
      expect(opt_out).toMatchObject({ hem, cookie_id: null })
      await it.shown(it.key, cookie, [null])
      await takes(it.demo.pixel_id, cookie, 0)
      expect(await it.visit(it.demo.pixel_id, randomUUID(), { hem })).toBe(0)
    }
    const again = async () => meetings.push(await it.meet())
    expect(await quickest(5_000, forget, again)).toBeLessThan(5_000)
  })

  test('is not told apart by an anonymous answer', async () => {
    const { email, hem, cookie } = await it.meet()
    await it.done(it.key, `POST ${path}`, { email })
    await takes(it.demo.pixel_id, cookie, 0)
    const { pixel_id } = it.demo
    const answerTo = async (cookie_id: string, more: object = {}, headers = {}) => {
      const events = [customEvent(), customEvent({}, { event_type: 'nonsense' })]
      const answer = await postBeacon(
        it.nextUrl(),
        beaconOf(it.service, events, { pixel_id, cookie_id, ...more }),
        headers,
      )
      const { rejected, ...receipt } = await receiptOf(answer)
      return {
        ...receipt,
        cookie_id: receipt.cookie_id === cookie_id,
        rejected: rejected.map(({ event_id: _, ...fault }) => fault),
        headers: [...answer.headers.keys()],
      }
    }
    const bot = { 'user-agent': 'Googlebot/2.1 (+http://www.google.com/bot.html)' }
    const other = hemOf(`${randomUUID()}@example.com`)
    const usual = await answerTo(randomUUID(), { hem: other })
    expect(usual).toMatchObject({ accepted: 1, rejected: [{ index: 1 }] })
    expect(await answerTo(cookie)).toEqual(usual)
    expect(await answerTo(randomUUID(), { hem })).toEqual(usual)
    expect(await answerTo(cookie, {}, bot)).toEqual(await answerTo(randomUUID(), {}, bot))
    const { rejected } = await answerTo(cookie, {}, it.key)
    expect(rejected.map(({ code }) => code)).toEqual(['visitor_opted_out', 'visitor_opted_out'])
  })

  test('is still known to another organization', async () => {
    const { email, hem, cookie } = await it.meet()
    await it.done(it.key, `POST ${path}`, { email })
    await it.shown(it.key, cookie, [null])
    expect(await it.hemsOf(it.stranger.key, cookie)).toEqual([hem])
    await takes(it.stranger.pixel, cookie, 1)
  })

  test('is not learned from the operator’s graph either', async () => {
    const { email, hem, cookie } = await it.meet()
    const other = randomUUID()
    for (const pixel of [it.demo.pixel_id, it.stranger.pixel])
      expect(await it.visit(pixel, other)).toBe(1)
    await it.linkForAll(other, hem)
    for (const key of [it.key, it.stranger.key]) await it.shown(key, other, [hem])
    await it.done(it.key, `POST ${path}`, { email })
    await it.shown(it.key, other, [null])
    await it.shown(it.key, cookie, [null])
    expect(await it.hemsOf(it.stranger.key, other)).toEqual([hem])
    await takes(it.demo.pixel_id, cookie, 0)
  })

  test('is known and followed again when they are taken off the list', async () => {
    const { hem, cookie } = await it.meet()
    await it.done(it.key, `POST ${path}`, { hem })
    await takes(it.demo.pixel_id, cookie, 0)
    await it.shown(it.key, cookie, [null])
    // A browser of theirs is on the list through them, and leaves it with them alone.
    await removeOptOut(it.postgres, it.demo.organization_id, { cookieId: cookie })
    const listed = 'SELECT FROM opt_outs WHERE cookie_id = $1 AND removed_at IS NULL'
    expect((await it.postgres.query(listed, [cookie])).rowCount).toBe(1)
    await it.done(it.key, `DELETE ${path}`, { hem })
    await it.shown(it.key, cookie, [hem])
    await takes(it.demo.pixel_id, cookie, 1)
    expect(await it.ask(it.key, `DELETE ${path}`, { hem })).toMatchObject({ status: 404 })
  })
})

test('a person who opts out is not found by lookup either, except by who else they have not opted out of', async () => {
  const { email, hem } = await it.meet()
  await it.clickhouse.command({
    sql: `INSERT INTO profiles (hem, first_name) VALUES ({hem:String}, 'Ada')`,
    params: { hem },
  })
  const finds = async (key: Caller) =>
    (await it.done(key, `GET /api/v1/lookup?email=${encodeURIComponent(email)}`)).matched
  expect([await finds(it.key), await finds(it.stranger.key)]).toEqual([true, true])
  await it.done(it.key, `POST ${path}`, { email })
  await waitFor('the opt-out', async () => !(await finds(it.key)), 5_000)
  expect(await finds(it.stranger.key)).toBe(true)
})

test('who has two addresses and opts out by one is not found by the other either: lookup, batch, contacts', async () => {
  const [first, second] = [`${randomUUID()}@two.example`, `${randomUUID()}@two.example`]
  await it.loadTwoAddresses([first, second])
  const found = async (key: Caller) => ({
    one: (await it.done(key, `GET /api/v1/lookup?email=${second}`)).matched,
    batch: (await it.done(key, 'POST /api/v1/lookup/batch', { items: [{ email: second }] }))
      .matched,
    contacts: (
      await it.done(key, 'POST /api/v1/contact/query', { filter: `business_email:eq:${second}` })
    ).count,
  })
  const known = { one: true, batch: 1, contacts: 1 }
  expect([await found(it.key), await found(it.stranger.key)]).toEqual([known, known])
  await it.done(it.key, `POST ${path}`, { email: first })
  const hidden = async () => !(await it.done(it.key, `GET /api/v1/lookup?email=${first}`)).matched
  await waitFor('the opt-out', hidden, 5_000)
  expect(await found(it.key)).toEqual({ one: false, batch: 0, contacts: 0 })
  expect(await found(it.stranger.key)).toEqual(known)
})

describe('who has two addresses and opts out by one', () => {
  /** Somebody with a browser at both organizations, which belongs to the second address. */
  async function visitor() {
    const [first, second] = [`${randomUUID()}@two.example`, `${randomUUID()}@two.example`]
    const [cookie, hem] = [randomUUID(), hemOf(second)]
    for (const pixel of [it.demo.pixel_id, it.stranger.pixel])
      expect(await it.visit(pixel, cookie, { hem })).toBe(1)
    await it.loadTwoAddresses([first, second])
    for (const key of [it.key, it.stranger.key]) await it.shown(key, cookie, [hem])
    return { first, cookie, hem }
  }

  test('is nobody by links that arrive later either', async () => {
    const { first, cookie, hem } = await visitor()
    await it.done(it.key, `POST ${path}`, { email: first })
    await it.shown(it.key, cookie, [null])
    expect(await it.hemsOf(it.stranger.key, cookie)).toEqual([hem])
    const [own, ofGraph] = [randomUUID(), randomUUID()]
    for (const pixel of [it.demo.pixel_id, it.stranger.pixel]) {
      // A refusal would show that both addresses are one person's.
      expect(await it.visit(pixel, own, { hem })).toBe(1)
      expect(await it.visit(pixel, ofGraph)).toBe(1)
    }
    await it.linkForAll(ofGraph, hem)
    for (const later of [own, ofGraph]) {
      await it.shown(it.stranger.key, later, [hem])
      await it.shown(it.key, later, [null])
    }
  })

  test('is nobody to anyone, where they opted out everywhere', async () => {
    const { first, cookie } = await visitor()
    await addOptOut(it.postgres, null, { hem: hemOf(first) })
    for (const key of [it.key, it.stranger.key]) await it.shown(key, cookie, [null])
  })
})

test('a browser alone opts out: the person’s others are followed on', async () => {
  const { hem, cookie } = await it.meet()
  const other = randomUUID()
  expect(await it.visit(it.demo.pixel_id, other, { hem })).toBe(1)
  await it.shown(it.key, other, [hem])
  await it.done(it.key, `POST ${path}`, { cookie_id: cookie.toUpperCase() })
  await it.shown(it.key, cookie, [null])
  await takes(it.demo.pixel_id, cookie, 0)
  expect(await it.visit(it.demo.pixel_id, cookie, { hem: hemOf('somebody@else.example') })).toBe(0)
  expect(await it.hemsOf(it.key, other)).toEqual([hem])
  await takes(it.demo.pixel_id, other, 1)
})

test('who opts out everywhere is nobody to anyone', async () => {
  const { hem, cookie } = await it.meet()
  await addOptOut(it.postgres, null, { hem })
  for (const key of [it.key, it.stranger.key]) await it.shown(key, cookie, [null])
  for (const pixel of [it.demo.pixel_id, it.stranger.pixel]) await takes(pixel, cookie, 0)
  expect(await it.visit(it.demo.pixel_id, randomUUID(), { hem })).toBe(0)
  await removeOptOut(it.postgres, null, { hem })
  for (const key of [it.key, it.stranger.key]) await it.shown(key, cookie, [hem])
})

test('an opted-out visitor’s rejected events are not kept; the answer still says what was wrong', async () => {
  const { hem, cookie } = await it.meet()
  await it.done(it.key, `POST ${path}`, { hem })
  await takes(it.demo.pixel_id, cookie, 0)
  const other = randomUUID()
  for (const cookie_id of [cookie, other]) {
    const bad = customEvent({}, { event_type: 'nonsense' })
    const answer = await postBeacon(it.url, beaconOf(it.service, [bad], { cookie_id }))
    expect((await receiptOf(answer)).rejected).toHaveLength(1)
  }
  const rejectedOf = (of: string) => it.countOf('rejected_events', 'cookie_id = {of:UUID}', { of })
  await waitFor('the other’s', async () => (await rejectedOf(other)) === 1)
  expect(await rejectedOf(cookie)).toBe(0)
})

test('the list names whom it was asked about, each once, newest last, in pages', async () => {
  const stranger = await it.openStranger()
  const cookies = [randomUUID(), randomUUID(), randomUUID()]
  for (const cookie_id of [...cookies, cookies[0]!])
    await it.done(stranger.key, `POST ${path}`, { cookie_id })
  const first = await it.done(stranger.key, `GET ${path}?limit=2`)
  const second = await it.done(stranger.key, `GET ${path}?limit=2&cursor=${first.next_cursor}`)
  expect(second.next_cursor).toBeUndefined()
  const all = [...first.opt_outs, ...second.opt_outs]
  expect(all.map(({ cookie_id }) => cookie_id)).toEqual(cookies)
  expect(all[0]).toEqual({
    opt_out_id: expect.any(String),
    hem: null,
    cookie_id: cookies[0],
    created_at: expect.any(String),
  })
})

describe('is refused', () => {
  test.each([
    [{}, 'hem'],
    [{ hem: 'a'.repeat(64), email: 'a@b.example' }, 'email'],
    [{ hem: 'a'.repeat(63) }, 'hem'],
    [{ email: 'nobody' }, 'email'],
    [{ cookie_id: '1' }, 'cookie_id'],
    [{ cookie_id: '00000000-0000-0000-0000-000000000000' }, 'cookie_id'],
    [{ name: 'x' }, 'name'],
  ])('%j', async (body, parameter) => {
    const answer = await it.ask(it.key, `POST ${path}`, body)
    expect([answer.status, answer.body.error]).toEqual([400, 'invalid_parameter'])
    expect(answer.body.parameter).toBe(parameter)
  })

  test('a project key, a plain member', async () => {
    const { session } = await it.join('member')
    const projectKey = await it.makeKey(it.demo.project_id)
    for (const caller of [projectKey, session]) {
      const body = { cookie_id: randomUUID() }
      expect(await it.ask(caller, `POST ${path}`, body)).toMatchObject({ status: 403 })
      expect(await it.ask(caller, `GET ${path}`)).toMatchObject({ status: 403 })
    }
  })
})
