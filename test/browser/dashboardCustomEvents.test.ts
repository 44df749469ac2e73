import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { ask, beaconOf, customEvent, postBeacon, receiptOf } from '../harness/api.ts'
import { waitFor } from '../harness/service.ts'
import { button, expectAccessible, keepScreenshots, useDashboard } from './dashboard.ts'
import { eventually } from './overview.ts'

/** Custom events on the overview: by name, by any of their properties, and the revenue that they bring. */
const dashboard = useDashboard()
let page: Page
const overview = (search = '') => {
  const { organization_id, project_id } = dashboard.service.demo
  return dashboard.at(`/${organization_id}/projects/${project_id}/overview${search}`)
}
const dialog = () => page.getByRole('dialog')
const panel = () => page.getByRole('region', { name: 'Events', exact: true })
const cells = async () =>
  Promise.all(
    (await dialog().locator('tbody tr').all()).map(async (row) =>
      (await row.locator('td').allTextContents()).map((text) => text.trim()),
    ),
  )

const event = (name: string, properties: Record<string, unknown>) => {
  const { event_data, ...rest } = customEvent(properties)
  return { ...rest, event_data: { ...event_data, name } }
}
const visits = [
  [event('Purchase', { plan: 'pro', total: 20 }), event('Purchase', { plan: 'pro', total: 5.5 })],
  [event('Purchase', { plan: 'team', total: 100 })],
  [event('Purchase', { plan: 'pro', total: 0.25 }), event('Signed up', { from: 'menu' })],
]

/** Sends events of one new visitor. */
async function send(events: object[]) {
  const beacon = beaconOf(dashboard.service, events, { cookie_id: randomUUID() })
  const receipt = await receiptOf(await postBeacon(dashboard.service.url, beacon))
  expect(receipt).toMatchObject({ accepted: events.length, rejected: [] })
}

/** Waits until figures count this number of events. */
const counted = (events: number) =>
  waitFor(
    'the figures of all events',
    async () => {
      const { project_id } = dashboard.service.demo
      const path = `/api/v1/analytics/overview?project_id=${project_id}`
      const answer = await ask(dashboard.service, path)
      return ((await answer.json()) as { overview: { events: number } }).overview.events === events
    },
    120_000,
  )

beforeAll(async () => {
  const { service } = dashboard
  const { api_key, api_secret, project_id } = service.demo
  const saved = await fetch(dashboard.at('/api/v1/analytics/goals'), {
    method: 'PUT',
    headers: {
      'x-api-key': api_key,
      'x-api-secret': api_secret,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      project_id,
      goals: [
        {
          name: 'Bought',
          filter: 'event_data.name:eq:Purchase',
          value: { property: 'event_data.properties.total', currency: 'EUR' },
        },
      ],
    }),
  })
  expect(saved.status, await saved.text()).toBe(200)
  for (const events of visits) await send(events)
  await counted(visits.flat().length)
  page = await dashboard.open()
  await dashboard.signIn(page)
})

test('the panel lists the names; details list any property, with conversions and revenue of a goal', async () => {
  await page.goto(overview('?goal=Bought&compare=off'))
  await eventually(async () => {
    await page.reload()
    await page.locator('.panel-rows').first().waitFor()
    await panel().getByRole('button', { name: 'Custom', exact: true }).click()
    await panel().getByRole('columnheader', { name: 'Event name' }).waitFor()
    return panel().locator('tbody tr').locator('th').allTextContents()
  }).toEqual(['Purchase', 'Signed up'])
  await button(page, 'Details of Events').click()
  // Visitors, events, page views, converted, rate, revenue, share of all visitors.
  await eventually(cells).toEqual([
    ['Purchase', '3', '4', '0', '3', '100%', '€125.75', '100%'],
    ['Signed up', '1', '1', '0', '1', '100%', '€0.25', '33.3%'],
  ])
  const by = dialog().getByRole('combobox', { name: /^By/ })
  await by.locator('option').nth(3).waitFor({ state: 'attached' })
  expect(await by.locator('option').allTextContents()).toEqual([
    'Event name',
    'Property from',
    'Property plan',
    'Property total',
  ])
  await by.selectOption('Property plan')
  await eventually(cells).toEqual([
    ['pro', '2', '3', '0', '2', '100%', '€25.75', '66.7%'],
    ['team', '1', '1', '0', '1', '100%', '€100.00', '33.3%'],
  ])
  await expectAccessible(page, 'details by a property')
  const download = page.waitForEvent('download')
  await dialog().getByRole('button', { name: /^CSV/ }).click()
  let text = ''
  for await (const chunk of await (await download).createReadStream()) text += chunk
  expect(text.trim().split('\r\n')).toEqual([
    '"event_data.properties.plan","visitors","events","page_views","sessions","converted","rate","revenue"',
    '"pro",2,3,0,,2,1,25.75',
    '"team",1,1,0,,1,1,100',
  ])
})

test('a click on a value of a property shows only its events', async () => {
  await page.goto(overview('?events=event_data.name&details=event_data.name&compare=off'))
  const by = dialog().getByRole('combobox', { name: /^By/ })
  await by.locator('option').nth(3).waitFor({ state: 'attached' })
  await by.selectOption('Property plan')
  await dialog().getByRole('button', { name: 'team', exact: true }).click()
  await dialog().waitFor({ state: 'detached' })
  expect(new URL(page.url()).searchParams.get('filter')).toBe('event_data.properties.plan:eq:team')
  const visitors = page.locator('.tile', { hasText: 'Visitors' }).first().locator('.tile-value')
  await eventually(() => visitors.textContent()).toBe('1')
})

test('pages of a project with one site are links in details', async () => {
  await page.goto(overview('?details=page_path'))
  const link = dialog().getByRole('link', { name: 'Open /page', exact: true })
  expect(await link.getAttribute('href')).toBe('https://shop.example/page')
})

test('revenue of goals has a tile and a column of the panel Goals', async () => {
  await page.goto(overview())
  const revenue = page.locator('.tile', { hasText: 'Revenue' })
  await eventually(() => revenue.locator('.tile-value').textContent()).toBe('€125.75')
  // A new site is not compared with nothing.
  expect(await revenue.locator('.tile-change').count()).toBe(0)
  const goals = page.getByRole('region', { name: 'Goals', exact: true })
  await eventually(() => goals.locator('tbody tr > *').allTextContents()).toEqual([
    'Bought',
    '3',
    '100%',
    '€125.75',
  ])
  await page.goto(overview('?goal=Bought'))
  const sources = page.getByRole('region', { name: 'Sources', exact: true })
  await eventually(() => sources.locator('tbody tr > *').allTextContents()).toEqual([
    'Direct',
    '3',
    '100%',
    '€125.75',
  ])
  await expectAccessible(page, 'overview with revenue')
  await keepScreenshots(page, 'overview-revenue')
})

test('a goal offers the properties that arrive, and warns of events without a number', async () => {
  await page.goto(overview().replace('/overview', '/goals'))
  await button(page, 'New goal').click()
  await page.getByLabel('Reached when').selectOption('event')
  await page.getByLabel('Event name').fill('Purchase')
  const hint = dialog().getByText('The property of the event that contains the amount')
  await eventually(() => hint.textContent()).toMatch(
    / total \([\d., ]+\), plan \((pro|team), \w+\)\.$/,
  )
  await page.getByLabel('Revenue (optional)').fill('plan')
  await page.getByLabel('Currency').fill('EUR')
  await page.getByLabel('Name', { exact: true }).fill('By plan')
  await expectAccessible(page, 'goal with properties')
  await keepScreenshots(page, 'goal-properties')
  await button(page, 'Save goal').click()
  const warning = page.getByText('4 events have no number at plan')
  await warning.waitFor()
  await expectAccessible(page, 'goals without numbers')
  await keepScreenshots(page, 'goals-without-numbers')
  await page.goto(overview())
  await warning.waitFor()
})

test('the overview refreshes every 30 seconds while it is visible, and on request', async () => {
  const own = await dashboard.open()
  await dashboard.signIn(own)
  await own.clock.install()
  await own.goto(overview('?compare=off'))
  const asOf = own.locator('.as-of')
  const time = /^as of \d\d?:\d\d/
  await eventually(() => asOf.textContent()).toMatch(time)
  const events = own.locator('button.tile', { hasText: 'Events' }).locator('.tile-value')
  const sent = visits.flat().length
  await eventually(() => events.textContent()).toBe(String(sent))
  const requests: string[] = []
  own.on('request', (request) => requests.push(request.url()))

  await send([event('Later', {})])
  await counted(sent + 1)
  await own.clock.runFor(31_000)
  await eventually(() => events.textContent()).toBe(String(sent + 1))
  await eventually(() => own.locator('.stale, .loading').count()).toBe(0)

  await send([event('Later', {})])
  await counted(sent + 2)
  const hide = (isHidden: boolean) =>
    own.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
      document.dispatchEvent(new Event('visibilitychange'))`)
  await hide(true)
  // The action that is already running may end.
  await own.clock.runFor(2_000)
  await own.waitForLoadState('networkidle')
  requests.length = 0
  await own.clock.runFor(120_000)
  expect(requests).toEqual([])
  // A refresh that was due in the meantime follows at once.
  await hide(false)
  await eventually(() => events.textContent()).toBe(String(sent + 2))

  await own.clock.pauseAt(Date.now() + 3_600_000)
  await send([event('Later', {})])
  await counted(sent + 3)
  await button(own, 'Refresh').click()
  await eventually(() => events.textContent()).toBe(String(sent + 3))
  await own.context().close()
})

test('figures stay when a refresh fails', async () => {
  await page.goto(overview('?compare=off'))
  const events = page.locator('button.tile', { hasText: 'Events' }).locator('.tile-value')
  await events.waitFor()
  const before = await events.textContent()
  const figures = /analytics\/(overview|conversions|breakdown|timeseries)/
  await page.route(figures, (route) => route.fulfill({ status: 400, json: { error: 'no' } }))
  const failed = page.waitForResponse((response) => response.status() === 400)
  await button(page, 'Refresh').click()
  await failed
  await page.waitForLoadState('networkidle')
  expect(await events.textContent()).toBe(before)
  expect(await page.getByRole('alert').count()).toBe(0)
  await page.unroute(figures)
})

test('the status of a pixel tells bots from visitors, and relative times move on', async () => {
  const { service } = dashboard
  const { organization_id, project_id, pixel_id } = service.demo
  const beacon = beaconOf(service, [event('Crawled', {})], { cookie_id: randomUUID() })
  await postBeacon(service.url, beacon, { 'user-agent': 'Googlebot/2.1' })
  const own = await dashboard.open()
  await dashboard.signIn(own)
  await own.clock.install()
  await own.goto(dashboard.at(`/${organization_id}/projects/${project_id}/pixels/${pixel_id}`))
  const status = own.locator('.activity .meta', { hasText: 'in the last 24 hours' })
  await eventually(() => status.textContent()).toMatch(
    /^\d+ events in the last 24 hours, 1 from bots, the last one .+ Figures do not count bots\.$/,
  )
  await expectAccessible(own, 'pixel with bots')
  await keepScreenshots(own, 'pixel-with-bots')
  await own.goto(dashboard.at(`/${organization_id}/projects`))
  const time = own.locator('.glance time')
  const before = await time.textContent()
  await own.clock.runFor(180_000)
  await eventually(() => time.textContent()).not.toBe(before)
  await own.context().close()
})

test('an empty period leads to the last 365 days, but not in a project that has no events there either', async () => {
  const { organization_id, api_key, api_secret } = dashboard.service.demo
  const made = await fetch(dashboard.at('/api/v1/project/create'), {
    method: 'POST',
    headers: {
      'x-api-key': api_key,
      'x-api-secret': api_secret,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ name: 'New shop' }),
  })
  const { project } = (await made.json()) as { project: { project_id: string } }
  const more = button(page, 'Look at the last 365 days')
  await page.goto(
    dashboard.at(`/${organization_id}/projects/${project.project_id}/overview?period=yesterday`),
  )
  await page.getByRole('link', { name: 'Create the first pixel' }).waitFor()
  expect(await more.count()).toBe(0)
  await expectAccessible(page, 'a new project')

  await page.goto(overview('?period=yesterday'))
  await more.click()
  await page.locator('button.tile', { hasText: 'Events' }).waitFor()
  expect(new URL(page.url()).searchParams.get('period')).toBe('days365')
})
