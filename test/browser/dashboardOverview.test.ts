import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ask } from '../harness/api.ts'
import { waitFor } from '../harness/service.ts'
import {
  button,
  expectAccessible,
  heading,
  keepScreenshots,
  sticksOut,
  useDashboard,
  violations,
} from './dashboard.ts'

/** The pages of figures, over the demo's month of sample visitors. */
const dashboard = useDashboard({ hasVisitors: true })
const { at, open, signIn } = dashboard
let page: Page
const overview = (search = '') => {
  const { organization_id, project_id } = dashboard.service.demo
  return at(`/${organization_id}/projects/${project_id}/overview${search}`)
}
const tile = (name: string) => page.locator('.tile', { hasText: name }).locator('.tile-value')
const numberOf = async (name: string) =>
  Number((await tile(name).textContent())!.replace(/\D/g, ''))
const panel = (name: string) => page.getByRole('region', { name, exact: true })
/** Waits for the content of the page on machines of any speed. */
const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 30_000 })
const fresh = () => eventually(() => page.locator('.stale, .loading').count()).toBe(0)

beforeAll(async () => {
  // The visitors come while the service is ready already, their pixel last of all.
  const { project_id } = dashboard.service.demo
  await waitFor('the sample visitors', async () =>
    (
      await (await ask(dashboard.service, `/api/v1/pixel/list?project_id=${project_id}`)).text()
    ).includes('Sample visitors'),
  )
  page = await open()
  await signIn(page)
  await page.goto(overview())
  await page.locator('.tile').first().waitFor()
})

/** What counts say of the demo's month. */
async function countsOf(filter: string) {
  const { api_key, api_secret, project_id } = dashboard.service.demo
  const day = 86_400_000
  const midnight = Math.floor(Date.now() / day) * day
  const query = new URLSearchParams({
    project_id,
    start_ms: String(midnight - 29 * day),
    end_ms: String(midnight + day),
    distinct: 'cookie_id',
    filter,
  })
  const answer = await fetch(at(`/api/v3/events/web_event/counts?${query}`), {
    headers: { 'x-api-key': api_key, 'x-api-secret': api_secret },
  })
  const { total, counts } = (await answer.json()) as {
    total: number
    counts: { distinct: number }[]
  }
  return { events: total, visitors: counts[0]!.distinct }
}

describe('the overview', () => {
  test('shows the demo’s month: what its tiles say is what counts without bots say', async () => {
    const { events, visitors } = await countsOf('is_bot:eq:false')
    expect(events).toBeGreaterThan(1_000)
    expect(await numberOf('Events')).toBe(events)
    expect(await numberOf('Visitors')).toBe(visitors)
  })

  test('says how many bots it hides, and includes them; the address keeps it from page to page', async () => {
    const [bots, all] = [await countsOf('is_bot:eq:true'), await countsOf('is_bot:in:true|false')]
    expect(bots.visitors).toBeGreaterThan(1)
    const line = page.locator('.bots')
    await eventually(() => line.textContent()).toBe(
      `${bots.visitors} bot visitors hidden Include bots`,
    )
    await keepScreenshots(page, 'overview')
    await button(page, 'Include bots').click()
    await eventually(() => line.textContent()).toBe(
      `${bots.visitors} bot visitors included Hide bots`,
    )
    await eventually(() => numberOf('Events')).toBe(all.events)
    expect(await numberOf('Visitors')).toBe(all.visitors)
    expect(new URL(page.url()).searchParams.get('bots')).toBe('included')
    await page.reload()
    await eventually(() => numberOf('Events')).toBe(all.events)
    await fresh()
    expect(await violations(page)).toEqual([])
    expect(await sticksOut(page)).toEqual([])
    await keepScreenshots(page, 'overview-with-bots')

    // Records are those that the number counts: with bots here, without them below.
    await button(page, 'Details of Events').click()
    const dialog = page.getByRole('dialog')
    const link = dialog
      .getByRole('row', { name: /Page view/ })
      .getByRole('link')
      .nth(1)
    const withBots = (await link.textContent())!
    await link.click()
    await heading(page, `${withBots} events match`).waitFor()
    await eventually(() => line.textContent()).toBe('Bots included Hide bots')
    await button(page, 'Hide bots').click()
    await eventually(() => line.textContent()).toBe('Bots hidden Include bots')
    const people = await countsOf('is_bot:eq:false,event_type:eq:page_view')
    const without = people.events.toLocaleString('en')
    expect(without).not.toBe(withBots)
    await heading(page, `${without} events match`).waitFor()

    await page
      .getByRole('navigation', { name: 'Project' })
      .getByRole('link', { name: 'Visitors' })
      .click()
    const listed = page.locator('.list-count')
    const { visitors } = await countsOf('is_bot:eq:false')
    await eventually(() => listed.textContent()).toBe(`${visitors.toLocaleString('en')} visitors`)
    await button(page, 'Include bots').click()
    await eventually(() => listed.textContent()).toBe(
      `${all.visitors.toLocaleString('en')} visitors`,
    )
    await page
      .getByRole('navigation', { name: 'Project' })
      .getByRole('link', { name: 'Overview' })
      .click()
    await eventually(() => numberOf('Visitors')).toBe(
      (await countsOf('event_type:eq:page_view')).visitors,
    )
    await page.goto(overview())
    await page.locator('.tile').first().waitFor()
  })

  test('a filter that asks for bots shows them', async () => {
    const bots = await countsOf('is_bot:eq:true')
    await page.goto(overview('?filter=is_bot:eq:true'))
    await eventually(() => numberOf('Events')).toBe(bots.events)
    expect(await page.locator('.bots').count()).toBe(0)
    await page.goto(overview())
    await page.locator('.tile').first().waitFor()
  })

  test('tells how many visitors reach the goals, as the API does', async () => {
    const { api_key, api_secret, project_id } = dashboard.service.demo
    const day = 86_400_000
    const midnight = Math.floor(Date.now() / day) * day
    const query = new URLSearchParams({
      project_id,
      start_ms: String(midnight - 29 * day),
      end_ms: String(midnight + day),
    })
    const answer = await fetch(at(`/api/v1/analytics/conversions?${query}`), {
      headers: { 'x-api-key': api_key, 'x-api-secret': api_secret },
    })
    const { conversions, converted } = (await answer.json()) as {
      conversions: { name: string; visitors: number }[]
      converted: { visitors: number }
    }
    expect(converted.visitors).toBeGreaterThan(0)
    await eventually(() => numberOf('Conversions')).toBe(converted.visitors)
    const rows = panel('Goals').locator('tbody tr')
    await eventually(() => rows.locator('th').allTextContents()).toEqual(
      conversions.map(({ name }) => name),
    )
    expect(await rows.locator('td:nth-child(2)').allTextContents()).toEqual(
      conversions.map(({ visitors }) => visitors.toLocaleString('en')),
    )
  })

  test('draws a chart, and says the same as a table', async () => {
    await page.locator('.chart canvas').waitFor()
    await page.getByText('As a table').click()
    const rows = page.locator('.headline .table-scroll tbody tr')
    await expect.poll(() => rows.count()).toBe(30)
    const sum = async () =>
      (await rows.locator('td:nth-child(2)').allTextContents()).reduce(
        (sum, text) => sum + Number(text.replace(/\D/g, '')),
        0,
      )
    await button(page, 'Events')
      .or(page.locator('button.tile', { hasText: 'Events' }))
      .first()
      .click()
    await eventually(sum).toBe(await numberOf('Events'))
  })

  test('Escape closes the live popover and keeps the filters', async () => {
    await page.goto(overview('?filter=page_path:eq:/about'))
    const live = page.locator('details.live')
    await live.locator('> summary').click()
    expect(await live.getAttribute('open')).not.toBeNull()
    await page.keyboard.press('Escape')
    await eventually(() => live.getAttribute('open')).toBeNull()
    expect(new URL(page.url()).searchParams.getAll('filter')).toEqual(['page_path:eq:/about'])
    await page.keyboard.press('Escape')
    await eventually(() => new URL(page.url()).searchParams.getAll('filter')).toEqual([])
    await page.goto(overview())
    await page.locator('.tile').first().waitFor()
  })

  test('a click on a row filters everything; the address says so, and the way back leads back', async () => {
    const before = await numberOf('Visitors')
    const row = panel('Pages').getByRole('row', { name: /\/about/ })
    const visitors = Number((await row.getByRole('cell').first().textContent())!.replace(/\D/g, ''))
    expect(visitors).toBeGreaterThan(0)
    expect(visitors).toBeLessThan(before)
    await row.getByRole('button').click()
    await eventually(() => numberOf('Visitors')).toBe(visitors)
    expect(new URL(page.url()).searchParams.getAll('filter')).toEqual(['page_path:eq:/about'])
    await page.reload()
    await eventually(() => numberOf('Visitors')).toBe(visitors)
    await page.getByRole('button', { name: 'Remove the filter Page is /about' }).click()
    await eventually(() => numberOf('Visitors')).toBe(before)
    await page.goBack()
    await eventually(() => numberOf('Visitors')).toBe(visitors)
    await page.keyboard.press('Escape')
    await eventually(() => numberOf('Visitors')).toBe(before)
  })

  test('keys change the period and the comparison, and the address keeps them', async () => {
    await page.keyboard.press('w')
    await eventually(() => new URL(page.url()).searchParams.get('period')).toBe('days7')
    await page.keyboard.press('c')
    await eventually(() => new URL(page.url()).searchParams.get('compare')).toBe('off')
    await eventually(() => page.locator('.tile-change').count()).toBe(0)
    await page.goto(overview())
    await page.locator('.tile-change').first().waitFor()
  })

  test('a filter is put together in a dialog', async () => {
    await button(page, 'Filter').click()
    const offers = page.getByRole('group', { name: 'Values' })
    await offers.getByRole('checkbox', { name: /^\/checkout/ }).waitFor()
    // Each value has the number of its visitors.
    expect(await offers.locator('.number').first().textContent()).toMatch(/^[\d,]+$/)
    await expectAccessible(page, 'filter dialog')
    await keepScreenshots(page, 'filter-dialog')
    await page.getByLabel('Field').selectOption('event_type')
    await offers.getByRole('checkbox', { name: 'Search' }).check()
    await button(page, 'Add filter').click()
    await eventually(() => new URL(page.url()).searchParams.getAll('filter')).toEqual([
      'event_type:eq:search',
    ])
    await fresh()
    expect(await numberOf('Page views')).toBe(0)
    await page.goto(overview())
  })

  test('the text of a filter opens it again, and the other filters stay', async () => {
    await page.goto(overview('?filter=event_type:eq:search&filter=country:eq:DE'))
    const chips = page.getByRole('list', { name: 'Filters' })
    await chips.getByRole('button', { name: 'Event is Search', exact: true }).click()
    await page.getByRole('heading', { name: 'Filter', exact: true }).waitFor()
    await expectAccessible(page, 'dialog of a filter')
    const offers = page.getByRole('group', { name: 'Values' })
    await offers.getByRole('checkbox', { name: 'Page view' }).check()
    // Earlier choices come first.
    expect(await offers.getByRole('checkbox', { name: 'Search' }).isChecked()).toBe(true)
    expect(await offers.locator('label').first().textContent()).toContain('Search')
    await button(page, 'Change filter').click()
    await eventually(() => new URL(page.url()).searchParams.getAll('filter')).toEqual([
      'event_type:in:search|page_view',
      'country:eq:DE',
    ])
    await page.goto(overview())
  })

  test('a letter after g leads to a page with the same period, and is no other key', async () => {
    await page.goto(overview('?period=days90'))
    await page.locator('.tile').first().waitFor()
    const entries = await page.evaluate('history.length')
    await page.keyboard.press('g')
    await page.keyboard.press('w')
    await page.getByRole('heading', { name: 'Web Vitals', level: 1 }).waitFor()
    expect(new URL(page.url()).search).toBe('?period=days90')
    expect(await page.evaluate('history.length')).toBe(Number(entries) + 1)
    await page.goto(overview())
    await page.locator('.tile').first().waitFor()
  })

  test('a filter on the source of sessions works here, and Events says why it does not work there', async () => {
    await button(page, 'Filter').click()
    await page.getByLabel('Field').selectOption({ label: 'Source' })
    const offers = page.getByRole('group', { name: 'Values' })
    await offers.getByRole('checkbox', { name: /^Google/ }).check()
    const operators = page.getByLabel('Operator').locator('option')
    expect(await operators.allTextContents()).toEqual([
      'is',
      'is not',
      'contains',
      'matches the pattern',
    ])
    await button(page, 'Add filter').click()
    await page.getByText('Source is Google').waitFor()
    await fresh()
    expect(await numberOf('Sessions')).toBeGreaterThan(0)
    await page.getByRole('link', { name: 'Events', exact: true }).click()
    await heading(page, 'This list cannot show “Source is Google”').waitFor()
    expect(await page.locator('.fault').count()).toBe(0)
    await expectAccessible(page, 'events of a source')
    await button(page, 'Remove this filter').click()
    await page.getByRole('table', { name: 'Events' }).waitFor()
    await page.goto(overview())
  })
})

const pageOf = (name: string, search = '') => {
  const { organization_id, project_id } = dashboard.service.demo
  return at(`/${organization_id}/projects/${project_id}/${name}${search}`)
}

test('a funnel is put together step by step, and stands in the address', async () => {
  await page.goto(pageOf('funnels'))
  await button(page, 'Try it: from a page view to a form').click()
  await page.locator('.funnel tbody tr').nth(1).waitFor()
  await button(page, 'Add a step').click()
  await page.getByLabel('Field').selectOption('page_path')
  await page.getByLabel('Value', { exact: true }).fill('/thanks')
  await page.locator('dialog').getByRole('button', { name: 'Add step' }).click()
  await eventually(() => page.locator('.funnel tbody tr').count()).toBe(3)
  await fresh()
  const visitors = await page.locator('.funnel tbody td:nth-child(2)').allTextContents()
  const [first, second, third] = visitors.map((text) => Number(text.replace(/\D/g, '')))
  expect(first).toBeGreaterThan(100)
  expect(first).toBeGreaterThanOrEqual(second!)
  expect(second).toBeGreaterThanOrEqual(third!)
  expect(third).toBeGreaterThan(0)
  expect(new URL(page.url()).searchParams.getAll('step')).toHaveLength(3)
  await button(page, 'Remove step 2').click()
  await eventually(() => page.locator('.funnel tbody tr').count()).toBe(2)
  // Its numbers lead to exactly the visitors that they count: who got there, and who went no further.
  for (const index of [1, 2]) {
    await page.locator('.funnel tbody a').nth(1).waitFor()
    await fresh()
    const link = page.locator('.funnel tbody a').nth(index)
    const count = Number((await link.textContent())!.replace(/\D/g, ''))
    expect(count).toBeGreaterThan(0)
    await link.click()
    await heading(page, `${count.toLocaleString('en')} visitors`).waitFor()
    const rows = page.getByRole('table', { name: 'Visitors' }).locator('tbody tr')
    await eventually(() => rows.count()).toBe(Math.min(count, 50))
    await page.goBack()
  }
})

test('a goal is picked, counted, changed, removed and restored; its error appears at its field', async () => {
  await page.goto(pageOf('goals'))
  for (const name of ['Order', 'Search']) {
    await button(page, `Remove ${name}`).click()
    await page.getByRole('row', { name }).waitFor({ state: 'detached' })
  }
  await page.getByRole('heading', { name: 'No goals yet' }).waitFor()
  await button(page, 'New goal').first().click()
  await page.getByLabel('Name', { exact: true }).fill('Ordered')
  await page.getByLabel('Reached when').selectOption('condition')
  await page.getByText('Advanced', { exact: true }).click()
  await page.getByLabel('Conditions as text').fill('nothing')
  await page.getByLabel('Name', { exact: true }).focus()
  await page.getByText('“nothing” is not field:op:value.').waitFor()
  await page.getByLabel('Conditions as text').fill('hem:ne:x')
  await button(page, 'Save goal').click()
  await page.locator('dialog .fault').waitFor()
  expect(await violations(page)).toEqual([])
  await page.getByLabel('Reached when').selectOption('page')
  await page.getByLabel('Page', { exact: true }).fill('/thanks')
  await page.getByText(/^\d+ visitors in the last 30 days$/).waitFor()
  await button(page, 'Save goal').click()
  const row = page.getByRole('row', { name: /Ordered/ })
  await row.waitFor()
  expect(
    Number((await row.getByRole('cell').first().textContent())!.replace(/\D/g, '')),
  ).toBeGreaterThan(50)
  expect(await row.textContent()).toContain('Event is Page view and Page is /thanks')
  expect(await violations(page)).toEqual([])
  await button(page, 'Change Ordered').click()
  expect(await page.getByLabel('Page', { exact: true }).inputValue()).toBe('/thanks')
  await page.getByLabel('Name', { exact: true }).fill('Bought')
  await button(page, 'Save goal').click()
  await button(page, 'Remove Bought').click()
  await page.getByRole('heading', { name: 'No goals yet' }).waitFor()
  await button(page, 'Undo').click()
  await page.getByRole('row', { name: /Bought/ }).waitFor()
  await button(page, 'Remove Bought').click()
  await page.getByRole('heading', { name: 'No goals yet' }).waitFor()
})

test('a goal sums a property of its event as revenue, which a change of the name keeps', async () => {
  await page.goto(pageOf('goals'))
  await button(page, 'New goal').first().click()
  await page.getByLabel('Reached when').selectOption('event')
  await page.locator('datalist option[value="add_to_basket"]').waitFor({ state: 'attached' })
  await page.getByLabel('Event name').fill('add_to_basket')
  await page.getByLabel('Revenue (optional)').fill('price')
  await page.getByLabel('Name', { exact: true }).fill('Basket')
  await button(page, 'Save goal').click()
  await page.getByText('Please fill out this field.').waitFor()
  await page.getByLabel('Currency').fill('gbp')
  await button(page, 'Save goal').click()
  const revenue = page
    .getByRole('row', { name: /basket/i })
    .getByRole('cell', { name: /^£[\d,.]+$/ })
  await revenue.waitFor()
  const amount = await revenue.textContent()
  await expectAccessible(page, 'goals with revenue')
  await button(page, 'Change Basket').click()
  expect(await page.getByLabel('Revenue (optional)').inputValue()).toBe('price')
  await page.getByLabel('Name', { exact: true }).fill('Added to basket')
  await button(page, 'Save goal').click()
  await page.getByRole('button', { name: 'Added to basket', exact: true }).waitFor()
  expect(await revenue.textContent()).toBe(amount)
  await page.setViewportSize({ width: 390, height: 844 })
  // The name is not cut off.
  const { width } = (await page.locator('.goals tbody th button').first().boundingBox())!
  expect(width).toBeGreaterThan(70)
  // The columns have no room for the revenue: it is below the name.
  const narrow = page.getByRole('row', { name: /basket/i }).getByText(amount!)
  expect(await narrow.filter({ visible: true }).allTextContents()).toEqual([`${amount} revenue`])
  expect(await sticksOut(page)).toEqual([])
  await page.setViewportSize({ width: 1280, height: 900 })
  await button(page, 'Remove Added to basket').click()
})

test('retention has a row for each cohort, and turns to days', async () => {
  await page.goto(pageOf('retention'))
  await page.getByRole('columnheader', { name: 'Same week' }).waitFor()
  await page.getByLabel('Interval').selectOption('day')
  await page.getByRole('columnheader', { name: 'Same day' }).waitFor()
  await expect.poll(() => page.locator('.cohorts tbody tr').count()).toBeGreaterThan(5)
  expect(new URL(page.url()).searchParams.get('interval')).toBe('day')
  // The first row adds up the others.
  const visitors = (await page.locator('.cohorts tbody td:nth-of-type(1)').allTextContents()).map(
    (text) => Number(text.replace(/\D/g, '')),
  )
  const [all, ...cohorts] = visitors
  expect(all).toBe(cohorts.reduce((sum, count) => sum + count, 0))
})

test('journeys begin at a page that is clicked; period and filters go along from page to page', async () => {
  await page.goto(pageOf('journeys', '?period=days7'))
  await page.locator('.sankey rect').first().waitFor()
  await page
    .getByRole('table', { name: 'Journeys' })
    .getByRole('button', { name: '/catalogue', exact: true })
    .first()
    .click()
  await button(page, 'Start at any page, not at /catalogue').waitFor()
  await eventually(() => page.locator('.sankey text').first().textContent()).toMatch(/^\/catalogue/)
  const columns = () =>
    page
      .locator('.sankey rect')
      .evaluateAll((rects) => new Set(rects.map((rect) => rect.getAttribute('x'))).size)
  await page.getByLabel('Length').selectOption('2 steps')
  await eventually(columns).toBe(3)
  expect(new URL(page.url()).searchParams.get('steps')).toBe('2')
  await page
    .getByRole('navigation', { name: 'Project' })
    .getByRole('link', { name: 'Overview' })
    .click()
  await page.locator('.tile').first().waitFor()
  expect(new URL(page.url()).search).toBe('?period=days7')
})

test('a first load takes at most 25 requests, and fetches nothing twice', async () => {
  const first = await open({ storageState: await page.context().storageState() })
  const requests: string[] = []
  first.on('request', (request) => requests.push(request.url().replace(dashboard.service.url, '')))
  // The time zone of the project does not wait for the session.
  const project = first.waitForRequest(/project\/retrieve/)
  await first.route('**/dashboard/session', async (route) => {
    await project
    await route.continue()
  })
  await first.goto(overview())
  await first.locator('.panel-rows').first().waitFor()
  await first.locator('.chart canvas').waitFor()
  await eventually(() => first.locator('.stale, .loading').count()).toBe(0)
  // The live count is asked for again every second.
  const isRepeated = (url: string, index: number) =>
    url.startsWith('/api/v1/analytics/live?') && requests.indexOf(url) < index
  const once = requests.filter((url, index) => !isRepeated(url, index))
  expect(new Set(once).size).toBe(once.length)
  expect(once.length).toBeLessThanOrEqual(25)
  await first.context().close()
})

test('journeys that end at a page are drawn up to it; the address keeps the end', async () => {
  await page.goto(pageOf('journeys', '?steps=3'))
  await page.locator('.sankey rect').first().waitFor()
  await page.getByLabel('End', { exact: true }).selectOption('end /thanks')
  const last = page.locator('.sankey text').last()
  await eventually(() => last.textContent()).toMatch(/^\/thanks · \d/)
  expect(new URL(page.url()).searchParams.get('end')).toBe('/thanks')
  await page.reload()
  await eventually(() => last.textContent()).toMatch(/^\/thanks · \d/)
  expect(await page.getByLabel('End', { exact: true }).inputValue()).toBe('end /thanks')
  await expectAccessible(page, 'journeys to a page')
  await keepScreenshots(page, 'journeys-end')
  await page.goto(pageOf('journeys', '?goal=Nothing'))
  await page.getByRole('alert').waitFor()
})

test('a map of countries is fetched when it comes into sight; a click on one shows only its visitors', async () => {
  const other = await open()
  const fetched: string[] = []
  other.on('request', (request) => fetched.push(new URL(request.url()).pathname))
  await signIn(other)
  await other.setViewportSize({ width: 1280, height: 300 })
  await other.goto(overview())
  await other.locator('.panel-rows').first().waitFor()
  const isFetched = () => fetched.some((path) => path.includes('/drawWorld-'))
  expect(isFetched()).toBe(false)
  const places = other.getByRole('region', { name: 'Places', exact: true })
  await places.scrollIntoViewIfNeeded()
  await eventually(isFetched).toBe(true)
  await places.locator('path.level-5').waitFor()
  expect(await places.locator('path.level-5 title').textContent()).toMatch(
    /^United Kingdom: [\d,]+ visitors$/,
  )
  const ofJapan = places.locator('path', { hasText: 'Japan' })
  const visitors = Number((await ofJapan.locator('title').textContent())!.replace(/\D/g, ''))
  expect(visitors).toBeGreaterThan(0)
  await ofJapan.dispatchEvent('click')
  await eventually(() => new URL(other.url()).searchParams.getAll('filter')).toEqual([
    'country:eq:JP',
  ])
  await eventually(async () =>
    Number((await other.locator('.tile-value').first().textContent())!.replace(/\D/g, '')),
  ).toBe(visitors)
  await other.context().close()
})

test('a share link shows the overview to whoever has it, until it is revoked; nothing keeps its secret', async () => {
  await page.goto(pageOf('sharing'))
  await button(page, 'New share link').first().click()
  await page.getByLabel('Name', { exact: true }).fill('For the agency')
  await page.getByLabel('Show the goals').uncheck()
  await expectAccessible(page, 'share dialog')
  await button(page, 'Create link').click()
  await page.locator('.copyable').waitFor()
  const link = (await page.locator('.copyable code').textContent())!
  const secret = new URL(link).hash.slice(1)
  expect(secret).toMatch(/^ffs_[\w-]{43}$/)
  expect(await violations(page)).toEqual([])
  expect(await sticksOut(page)).toEqual([])
  await keepScreenshots(page, 'share-link')
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  // The same link is there to be copied at any time.
  await page.reload()
  await button(page, 'Show link For the agency').click()
  await eventually(() => page.locator('.copyable code').textContent()).toBe(link)
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  await expectAccessible(page, 'sharing')
  await keepScreenshots(page, 'sharing')

  const guest = await open()
  const asked: string[] = []
  guest.on('request', (request) =>
    asked.push(`${request.url()} ${request.headers().referer ?? ''}`),
  )
  // Where the service is reached here, whatever its public address.
  const address = at(new URL(link).pathname) + new URL(link).hash
  const answer = await guest.goto(address)
  expect(answer!.headers()).toMatchObject({
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex, nofollow',
  })
  await guest.getByRole('heading', { name: 'For the agency', level: 1 }).waitFor()
  await guest.locator('.panel-rows').first().waitFor()
  await guest.locator('.chart canvas').waitFor()
  await page.goto(overview())
  await page.locator('.tile').first().waitFor()
  // Goals are not shared.
  const figuresOf = (whose: Page) =>
    whose
      .locator('.tile', { hasNotText: /Conversions|Revenue/ })
      .locator('.tile-value')
      .allTextContents()
  await fresh()
  await eventually(() => figuresOf(guest)).toEqual(await figuresOf(page))
  expect(await guest.getByRole('navigation').count()).toBe(0)
  expect(await button(guest, 'Filter').count()).toBe(0)
  expect(await guest.locator('.bots').count()).toBe(0)
  expect(await violations(guest)).toEqual([])
  expect(await sticksOut(guest)).toEqual([])
  await keepScreenshots(guest, 'shared')

  await guest
    .getByRole('region', { name: 'Pages', exact: true })
    .getByRole('button', { name: '/about' })
    .click()
  await guest.getByRole('button', { name: 'Remove the filter Page is /about' }).waitFor()
  await guest.reload()
  await guest.getByRole('button', { name: 'Remove the filter Page is /about' }).waitFor()
  await guest.locator('.tile').first().waitFor()
  expect(asked.filter((text) => text.includes(secret))).toEqual([])
  const log = await waitFor('the guest’s requests in the log', async () => {
    const text = await (
      await ask(dashboard.service, '/api/v1/requests?route=analytics&limit=200')
    ).text()
    return text.includes('"kind":"share"') && text
  })
  expect(log).toContain('For the agency')
  expect(log).not.toContain(secret)

  await page.goto(pageOf('sharing'))
  await button(page, 'Revoke For the agency').click()
  await page.locator('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('heading', { name: 'Share the overview' }).waitFor()
  await eventually(async () => {
    await guest.reload()
    return guest.getByRole('heading', { level: 1 }).textContent()
  }).toBe('This link no longer works')
  expect(await violations(guest)).toEqual([])
  await guest.context().close()
})

test('a share link with a password asks for it; then it shows the goals, also in a frame', async () => {
  let body = ''
  const intranet = createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end(body),
  )
  await once(intranet.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => void intranet.close())
  const origin = `http://127.0.0.1:${(intranet.address() as AddressInfo).port}`
  await page.goto(pageOf('sharing'))
  await button(page, 'New share link').first().click()
  await page.getByLabel('Name', { exact: true }).fill('For the board')
  await page.getByLabel('Password (optional)').fill('correct horse')
  await page.getByLabel('Sites that may embed it (optional)').fill(origin)
  await button(page, 'Create link').click()
  const link = (await page.locator('.copyable code').first().textContent())!
  expect(await page.locator('.copyable code').last().textContent()).toContain('<iframe src="')

  const guest = await open()
  const address = at(new URL(link).pathname) + new URL(link).hash
  await guest.goto(address)
  await heading(guest, 'This link has a password').waitFor()
  await expectAccessible(guest, 'password of a share link')
  await keepScreenshots(guest, 'share-password')
  await guest.getByLabel('Password').fill('wrong horse')
  await button(guest, 'Show the figures').click()
  await guest.getByText('The password is wrong.').waitFor()
  await guest.getByLabel('Password').fill('correct horse')
  await button(guest, 'Show the figures').click()
  await heading(guest, 'For the board').waitFor()
  await guest.getByRole('region', { name: 'Goals' }).waitFor()
  await expectAccessible(guest, 'a share link with goals')
  await keepScreenshots(guest, 'shared-goals')

  body = `<iframe src="${address}" style="width: 100%; height: 900px"></iframe>`
  await guest.goto(origin)
  const frame = guest.frameLocator('iframe')
  await frame.getByRole('heading', { name: 'This link has a password' }).waitFor()
  expect(await frame.locator('.brand').isVisible()).toBe(false)
  await guest.context().close()
})

/** What each page is looked at with, and what says that it is there. */
const looks: [name: string, search: string, shown: string][] = [
  ['overview', '?filter=event_type:eq:page_view', '.chart canvas'],
  ['funnels', '?step=event_type:eq:page_view&step=event_type:eq:search', '.funnel'],
  ['retention', '', '.cohorts'],
  ['journeys', '', '.sankey rect'],
]
for (const [colorScheme, width] of [
  ['light', 1280],
  ['dark', 1280],
  ['light', 360],
] as const) {
  test(`with figures, ${colorScheme}, ${width} px wide: axe-core finds nothing, nothing sticks out`, async () => {
    const other = await open({ colorScheme, viewport: { width, height: 800 } })
    await signIn(other)
    for (const [name, search, shown] of looks) {
      await other.goto(pageOf(name, search))
      await other.locator(shown).first().waitFor()
      if (name === 'overview') {
        await other.locator('.panel-rows').first().waitFor()
        await other.getByRole('region', { name: 'Places', exact: true }).scrollIntoViewIfNeeded()
        await other.locator('.world path.level-5').waitFor()
        await other.getByText('As a table').click()
        await other.getByText('on the site now').click()
      }
      expect(await violations(other), name).toEqual([])
      expect(await sticksOut(other), name).toEqual([])
    }
    await other.context().close()
  })
}
