import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { ask, beaconOf, customEvent, postBeacon, receiptOf } from '../harness/api.ts'
import { waitFor } from '../harness/service.ts'
import { button, expectAccessible, useDashboard } from './dashboard.ts'
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
  for (const events of visits) {
    const beacon = beaconOf(service, events, { cookie_id: randomUUID() })
    const receipt = await receiptOf(await postBeacon(service.url, beacon))
    expect(receipt).toMatchObject({ accepted: events.length, rejected: [] })
  }
  const events = visits.flat().length
  await waitFor(
    'the figures of all events',
    async () => {
      const answer = await ask(service, `/api/v1/analytics/overview?project_id=${project_id}`)
      return ((await answer.json()) as { overview: { events: number } }).overview.events === events
    },
    120_000,
  )
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
