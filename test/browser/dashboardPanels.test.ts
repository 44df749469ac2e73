import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { beaconOf, postBeacon, receiptOf } from '../harness/api.ts'
import {
  button,
  expectAccessible,
  heading,
  keepScreenshots,
  sticksOut,
  violations,
} from './dashboard.ts'
import { eventually, numberIn, useOverview } from './overview.ts'

/** The panels of the overview. */
const it = useOverview()
const dayMs = 86_400_000
const midnight = Math.floor(Date.now() / dayMs) * dayMs
const month = { start_ms: midnight - 29 * dayMs, end_ms: midnight + dayMs }
const day = (time: number) => new Date(time).toISOString().slice(0, 10)
const rowsOf = (panel: string) => it.panel(panel).locator('.panel-rows tbody tr')
const dialog = () => it.page.getByRole('dialog')

beforeEach(async () => {
  await it.page.goto(it.overview())
  await it.page.locator('.panel-rows').first().waitFor()
  await it.fresh()
})

interface Value {
  value: string | null
  visitors: number
  events: number
}
const breakdown = async (dimension: string, limit = 1_000) =>
  (
    await it.analytics<{ breakdowns: Record<string, { values: Value[] }> }>('breakdown', {
      ...month,
      dimensions: dimension,
      limit,
    })
  ).breakdowns[dimension]!.values

test('a panel has eight rows with their share of all visitors; details have all of them, searched and sorted', async () => {
  const values = await breakdown('event_type')
  expect(values.length).toBeGreaterThan(8)
  const visitors = await it.numberOf('Visitors')
  await eventually(() => rowsOf('Events').count()).toBe(8)
  expect(await rowsOf('Events').locator('td:nth-child(2)').allTextContents()).toEqual(
    values.slice(0, 8).map((value) => value.visitors.toLocaleString('en')),
  )
  const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })
  expect(await rowsOf('Events').locator('td:nth-child(3)').allTextContents()).toEqual(
    values.slice(0, 8).map((value) => percent.format(value.visitors / visitors)),
  )
  await button(it.page, 'Details of Events').click()
  const rows = dialog().locator('tbody tr')
  await eventually(() => rows.count()).toBe(values.length)
  expect(it.searchParam('details')).toBe('event_type')
  expect(await violations(it.page)).toEqual([])
  await keepScreenshots(it.page, 'panel-details')
  const byEvents = dialog().getByRole('columnheader', { name: 'Events' })
  await byEvents.getByRole('button').click()
  await it.page.reload()
  await eventually(() => byEvents.getAttribute('aria-sort')).toBe('ascending')
  const fewest = Math.min(...values.map(({ events }) => events)).toLocaleString('en')
  await eventually(() => rows.first().locator('td').nth(2).textContent()).toBe(fewest)
  await dialog().getByRole('searchbox').fill('scroll')
  await eventually(() => rows.count()).toBe(1)
  await rows.getByRole('button', { name: 'Scroll depth' }).click()
  await dialog().waitFor({ state: 'detached' })
  expect(it.searchParam('filter')).toBe('event_type:eq:scroll_depth')
})

test('no share is of the total of an earlier period while the new total loads', async () => {
  await it.page.goto(it.overview('?period=days30'))
  await it.fresh()
  const shares = () => rowsOf('Pages').locator('td:nth-child(3)').allTextContents()
  await eventually(async () => (await shares())[0]).toMatch(/%$/)
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await it.page.route('**/analytics/overview?**', async (route) => {
    await held
    await route.continue()
  })
  await it.page.getByRole('button', { name: 'Earlier period', exact: true }).click()
  await eventually(async () => new Set(await shares())).toEqual(new Set(['–']))
  release()
  await it.page.unrouteAll({ behavior: 'wait' })
  await eventually(async () => (await shares())[0]).toMatch(/%$/)
  await it.page.goto(it.overview())
  await it.fresh()
})

test('details show fifty rows at first, and more on request', async () => {
  const { service } = it.dashboard
  const views = Array.from({ length: 60 }, (_, index) => ({
    event_id: randomUUID(),
    event_type: 'page_view',
    event_data: {
      url: `http://shop.example/only/${index}`,
      title: 'Only',
      referrer: null,
      screen: { width: 1280, height: 720 },
      viewport: { width: 1280, height: 720 },
      timestamp: new Date().toISOString(),
    },
  }))
  const sent = await postBeacon(service.url, beaconOf(service, views))
  expect(await receiptOf(sent)).toMatchObject({ accepted: views.length, rejected: [] })
  await it.page.goto(it.overview('?details=page_path'))
  const rows = dialog().locator('tbody tr')
  await eventually(async () => {
    await it.page.reload()
    await rows.first().waitFor()
    return rows.count()
  }).toBe(50)
  await button(it.page, 'Show more').click()
  await eventually(() => rows.count()).toBeGreaterThanOrEqual(60)
})

test('details tell the change of visitors against the compared period', async () => {
  const before = async (dimension: string) =>
    (
      await it.analytics<{ breakdowns: Record<string, { values: Value[] }> }>('breakdown', {
        start_ms: midnight - 6 * dayMs,
        end_ms: midnight - 3 * dayMs,
        dimensions: dimension,
        limit: 1_000,
      })
    ).breakdowns[dimension]!.values
  const period = `period=custom&from=${day(midnight - 3 * dayMs)}&to=${day(midnight - dayMs)}`
  await it.page.goto(it.overview(`?${period}&details=page_path`))
  const rows = dialog().locator('tbody tr')
  await rows.first().waitFor()
  const changes = new Map<string, string | null>()
  for (const row of await rows.all())
    changes.set(
      (await row.getByRole('button').first().textContent())!,
      await row.locator('td').last().locator('span').first().getAttribute('title'),
    )
  const known = (await before('page_path')).filter(({ value }) => value && changes.has(value))
  expect(known.length).toBeGreaterThan(2)
  for (const { value, visitors } of known)
    expect(changes.get(value!), value!).toBe(`Before: ${visitors.toLocaleString('en')}`)
  await it.page.goto(it.overview(`?${period}&details=page_path&compare=off`))
  await rows.first().waitFor()
  expect(await dialog().getByRole('columnheader', { name: 'Change' }).count()).toBe(0)
})

test('goals tell the change of their visitors against the compared period', async () => {
  const { conversions } = await it.analytics<{ conversions: { name: string; visitors: number }[] }>(
    'conversions',
    { start_ms: midnight - 6 * dayMs, end_ms: midnight - 3 * dayMs },
  )
  const reached = conversions.filter(({ visitors }) => visitors > 0)
  expect(reached.length).toBeGreaterThan(0)
  const period = `?period=custom&from=${day(midnight - 3 * dayMs)}&to=${day(midnight - dayMs)}`
  await it.page.goto(it.pageOf('goals', period))
  for (const { name, visitors } of reached) {
    const change = it.page.getByRole('row', { name: new RegExp(name) }).locator('.change')
    await eventually(() => change.getAttribute('title')).toBe(
      `Before: ${visitors.toLocaleString('en')}`,
    )
  }
})

test('a panel is turned to another dimension; CSV is behind its menu, which Escape closes', async () => {
  await it.panel('Pages').getByRole('button', { name: 'Entry', exact: true }).click()
  await it.panel('Pages').getByRole('columnheader', { name: 'Entry page' }).waitFor()
  expect(it.searchParam('pages')).toBe('entry_page')
  const csv = it.panel('Pages').getByRole('button', { name: 'CSV of entry_page' })
  expect(await csv.isVisible()).toBe(false)
  const menu = it.panel('Pages').getByLabel('Actions of Pages')
  await menu.click()
  await it.page.keyboard.press('Escape')
  await csv.waitFor({ state: 'hidden' })
  await menu.click()
  expect(await violations(it.page)).toEqual([])
  const download = it.page.waitForEvent('download')
  await csv.click()
  const file = await download
  expect(file.suggestedFilename()).toBe('entry_page.csv')
  let text = ''
  for await (const chunk of await file.createReadStream()) text += chunk
  expect(text).toMatch(/^"entry_page","visitors","events","page_views","sessions"\r\n"\/",\d+,/)
  expect(text.trim().split('\r\n')).toHaveLength(1 + (await breakdown('entry_page')).length)
})

test('numbers lead to the visitors and events that they count', async () => {
  await button(it.page, 'Details of Pages').click()
  const row = dialog().getByRole('row', { name: /\/about/ })
  await row.waitFor()
  const [, visitors, , views] = (await row.getByRole('cell').allTextContents()).map(numberIn)
  const numbers = row.getByRole('link', { name: /^\d/ })
  await numbers.first().click()
  await heading(it.page, `${visitors!.toLocaleString('en')} visitors`).waitFor()
  expect(await violations(it.page)).toEqual([])
  await it.page.goBack()
  await numbers.last().click()
  await heading(it.page, `${views!.toLocaleString('en')} events match`).waitFor()
})

test('a chosen goal adds its conversions and rate to every panel, and the address keeps it', async () => {
  await it.page.getByLabel('Goal', { exact: true }).selectOption('Order')
  await eventually(() => it.searchParam('goal')).toBe('Order')
  await it.page.reload()
  const { breakdowns } = await it.analytics<{
    breakdowns: Record<string, { values: { goal: { visitors: number; rate: number } }[] }>
  }>('breakdown', { ...month, dimensions: 'source,page_path', goal: 'Order', limit: 8 })
  const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 })
  for (const [panel, dimension] of [
    ['Sources', 'source'],
    ['Pages', 'page_path'],
  ] as const) {
    const goals = breakdowns[dimension]!.values.map(({ goal }) => goal)
    expect(goals.some(({ visitors }) => visitors > 0)).toBe(true)
    const column = (number: number) =>
      rowsOf(panel).locator(`td:nth-child(${number})`).allTextContents()
    await eventually(() => column(3)).toEqual(
      goals.map(({ visitors }) => visitors.toLocaleString('en')),
    )
    expect(await column(4)).toEqual(goals.map(({ rate }) => percent.format(rate)))
  }
  const { conversions } = await it.analytics<{ conversions: { name: string; visitors: number }[] }>(
    'conversions',
    month,
  )
  const orders = conversions.find(({ name }) => name === 'Order')!.visitors
  await eventually(() => it.numberOf('Conversions')).toBe(orders)
  expect(await violations(it.page)).toEqual([])
  expect(await sticksOut(it.page)).toEqual([])
  await keepScreenshots(it.page, 'panels-goal')
  await button(it.page, 'Details of Sources').click()
  await dialog().getByRole('columnheader', { name: 'Rate' }).waitFor()
})

test('a click on a source shows only its sessions, and the sum of all sources is all sessions', async () => {
  const sessions = await it.numberOf('Sessions')
  const { breakdowns } = await it.analytics<{
    breakdowns: Record<string, { values: { value: string; sessions: number }[] }>
  }>('breakdown', { ...month, dimensions: 'source', limit: 1_000 })
  const sources = breakdowns.source!.values
  expect(sources.reduce((sum, { sessions }) => sum + sessions, 0)).toBe(sessions)
  const google = sources.find(({ value }) => value === 'Google')!
  await it.panel('Sources').getByRole('button', { name: 'Google', exact: true }).click()
  await eventually(() => it.numberOf('Sessions')).toBe(google.sessions)
  await it.page.getByRole('button', { name: 'Remove the filter Source is Google' }).waitFor()
})

test('flags and icons come from our own origin alone', async () => {
  const asked: string[] = []
  it.page.on('request', (request) => asked.push(request.url()))
  await it.page.goto(it.overview('?devices=browser'))
  const flag = it.panel('Places').locator('img.icon').first()
  await flag.scrollIntoViewIfNeeded()
  const browser = it.panel('Devices').locator('svg.icon').first()
  await browser.scrollIntoViewIfNeeded()
  const isDrawn = (image: typeof flag) =>
    image.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth > 0)
  await eventually(() => isDrawn(flag)).toBe(true)
  // A symbol has a size when its file is there.
  const width = () =>
    browser.evaluate(
      (icon) => (icon as unknown as { getBBox(): { width: number } }).getBBox().width,
    )
  await eventually(width).toBeGreaterThan(0)
  expect(await sticksOut(it.page)).toEqual([])
  const { origin } = new URL(it.overview())
  expect(asked.filter((url) => new URL(url).origin !== origin)).toEqual([])
  const [icon] = asked.filter((url) => url.includes('/flag-'))
  const { headers } = await fetch(icon!)
  expect(headers.get('content-type')).toBe('image/svg+xml')
  expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
})

test('the name of a long host ends in an ellipsis in the list of visitors, and hides no column', async () => {
  const { service } = it.dashboard
  const host = `${'a-very-long-name-of-a-host'.repeat(2)}.${'of-a-department'.repeat(3)}.example`
  const view = {
    event_id: randomUUID(),
    event_type: 'page_view',
    event_data: {
      url: 'http://shop.example/long-host',
      title: 'Long',
      referrer: `https://${host}/`,
      screen: { width: 1280, height: 720 },
      viewport: { width: 1280, height: 720 },
      timestamp: new Date().toISOString(),
    },
  }
  const beacon = beaconOf(service, [view], { cookie_id: randomUUID() })
  expect(await receiptOf(await postBeacon(service.url, beacon))).toMatchObject({ accepted: 1 })
  const shown = it.page.getByRole('table', { name: 'Visitors' }).locator(`[title="${host}"]`)
  await eventually(async () => {
    await it.page.goto(it.pageOf('people', '?period=today'))
    await it.page.locator('.empty, table').first().waitFor()
    return shown.count()
  }).toBe(1)
  // With the names of other rows, too, all columns fit.
  await it.page.goto(it.pageOf('people'))
  await shown.waitFor()
  const hidden = `(() => {
    const { scrollWidth, clientWidth } = document.querySelector('.scroll:has(> table.data)')
    return scrollWidth - clientWidth
  })()`
  expect(await it.page.evaluate(hidden)).toBe(0)
  expect(
    await shown.evaluate((element) => {
      const { clientHeight, scrollHeight } = element as unknown as Record<string, number>
      return scrollHeight! > clientHeight!
    }),
  ).toBe(true)
  await expectAccessible(it.page, 'visitors of a long host')
  await keepScreenshots(it.page, 'visitors-long-host')
  // Its story names the host in full.
  await shown.locator('xpath=ancestor::tr').getByRole('button').click()
  await it.page.locator('.story li').first().waitFor()
  await expectAccessible(it.page, 'the story of a visitor of a long host')
})
