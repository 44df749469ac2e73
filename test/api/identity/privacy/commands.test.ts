import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runNextTo } from '../../../harness/commands.ts'
import { openPrivacy, type Privacy } from './harness.ts'

let it: Privacy
beforeAll(async () => {
  it = await openPrivacy()
})
afterAll(() => it.close())

/** Runs `npx footfall-server privacy …` as an operator would, next to the service. */
const footfall = (...args: string[]) => runNextTo(it.service.dataDir, ['privacy', ...args])

test('operators opt people out of one organization, and in again', async () => {
  const { email, hem, cookie } = await it.meet()
  const { organization_id } = it.demo
  expect(await footfall('opt-out', email, organization_id)).toEqual({ code: 0, output: 'done\n' })
  await it.shown(it.key, cookie, [null])
  expect(await it.hemsOf(it.stranger.key, cookie)).toEqual([hem])
  expect(await footfall('opt-in', hem, organization_id)).toEqual({ code: 0, output: 'done\n' })
  await it.shown(it.key, cookie, [hem])
  expect(await footfall('opt-in', hem, organization_id)).toEqual({
    code: 1,
    output: 'footfall: they have no opt-out\n',
  })
})

test('operators erase people everywhere, and ask how far it is', async () => {
  const { email, cookie } = await it.meet()
  const { code, output } = await footfall('erase', email, 'everywhere')
  expect(code).toBe(0)
  const id = /erasure (\S+)/.exec(output)![1]!
  for (const key of [it.key, it.stranger.key]) await it.shown(key, cookie, [])
  expect(await footfall('status', id)).toEqual({ code: 0, output: 'not complete yet\n' })
  await it.postgres.query('UPDATE erasures SET finished_at = now() WHERE erasure_id = $1', [id])
  expect((await footfall('status', id)).output).toMatch(/^complete since 2/)
})

test.each([
  [
    ['erase', 'nobody', 'everywhere'],
    'footfall: "nobody" must be an e-mail address, a hem or a cookie id\n',
  ],
  [['erase', 'a@b.example', 'somewhere'], 'footfall: there is no organization somewhere\n'],
  [['erase', 'a@b.example', randomUUID()], /^footfall: there is no organization .{36}\n$/],
  [['status', 'x'], 'footfall: there is no erasure x\n'],
])('%j says in one line what is wrong', async (args, said) => {
  const { code, output } = await footfall(...args)
  expect(code).toBe(1)
  expect(output).toEqual(typeof said === 'string' ? said : expect.stringMatching(said))
})

test('without a command it shows them', async () => {
  const { code, output } = await footfall()
  expect(code).toBe(2)
  expect(output).toContain('erase <EMAIL|HEM|COOKIE_ID> <ORGANIZATION_ID|everywhere>')
})
