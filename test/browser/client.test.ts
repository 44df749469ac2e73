/** `footfall-client` in a page of the service's own origin, as built. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'
import { beaconOf, customEvent, postBeacon, readEvent } from '../harness/api.ts'
import { leaveChromium, openChromium } from '../harness/chromium.ts'
import type { Answering } from '../harness/service.ts'
import { openTenant } from '../harness/sharedApp.ts'

let service: Answering
let browser: Browser
beforeAll(async () => {
  service = (await openTenant()).service
  browser = await openChromium()
})
afterAll(async () => {
  await leaveChromium(browser)
  await service?.stop()
})

/** Actions of the page, with a key and with a sign-in: the browser keeps the session's cookie. */
const program = `async ({ key, secret, email, password }) => {
  const { ApiError, createClient } = await import('/client.js')
  const byKey = createClient({ key, secret })
  const ids = []
  for await (const event of byKey.listEvents.all({ limit: 1, select: 'event_id' })) ids.push(event.event_id)

  const bySession = createClient()
  const refused = await bySession.getSession().catch((error) => error)
  await bySession.signIn({ email, password })
  const { member } = await bySession.getSession()
  const names = []
  for await (const { name } of bySession.listProjects.all()) names.push(name)

  const controller = new AbortController()
  const call = bySession.whoAmI({}, { signal: controller.signal }).catch((error) => error.name)
  controller.abort()
  return { ids, refused: [refused instanceof ApiError, refused.code], email: member.email, names, aborted: await call }
}`

test('a page reads events by a key, signs in, goes through lists, and breaks a call off', async () => {
  const events = [customEvent(), customEvent()]
  await postBeacon(service.url, beaconOf(service, events))
  for (const { event_id } of events) await readEvent(service, event_id)
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    const body = readFileSync(join(packageRoot, 'dist/client/index.js'), 'utf8')
    await page.route('**/client.js', (route) =>
      route.fulfill({ contentType: 'text/javascript', body }),
    )
    await page.goto(`${service.url}/sign-in`)
    const {
      api_key: key,
      api_secret: secret,
      admin_email: email,
      admin_password: password,
    } = service.demo
    const work = page.evaluate(`(${program})(${JSON.stringify({ key, secret, email, password })})`)
    const { ids, ...rest } = (await work) as { ids: string[] }
    expect(ids.toSorted()).toEqual(events.map(({ event_id }) => event_id).toSorted())
    expect(rest).toEqual({
      refused: [true, 'unauthenticated'],
      email,
      names: ['Demo shop'],
      aborted: 'AbortError',
    })
  } finally {
    await context.close()
  }
})
