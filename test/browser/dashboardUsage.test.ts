import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { ask, beaconOf, customEvent, postBeacon } from '../harness/api.ts'
import { waitFor } from '../harness/service.ts'
import { button, sticksOut, useDashboard, violations } from './dashboard.ts'

const dashboard = useDashboard()
const { open, signIn } = dashboard
let page: Page

/** Reads `limit` events at a tier, with the demo's live key. */
const read = (tier: string, limit: number): Promise<Response> =>
  ask(dashboard.service, `/api/v3/events/${tier}?limit=${limit}`)

const charged = async (tier: string, limit: number): Promise<number> => {
  const answer = (await (await read(tier, limit)).json()) as { meta: { charged: number } }
  return answer.meta.charged
}

beforeAll(async () => {
  page = await open()
  await signIn(page)
})

/** Events to be read and charged, and how many there are. */
const made = 8

const show = async () => {
  await page.getByRole('link', { name: 'Usage' }).click()
  await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
  await expect.poll(() => page.locator('.loading').count()).toBe(0)
}

const rowsOf = (caption: string): Promise<string[][]> =>
  page
    .getByRole('table', { name: caption, exact: true })
    .evaluate((table) =>
      [
        ...(table as unknown as { rows: Iterable<{ cells: Iterable<{ textContent: string }> }> })
          .rows,
      ]
        .slice(1)
        .map(({ cells }) => [...cells].map(({ textContent }) => textContent)),
    )

test('before anything is charged the page says what is free', async () => {
  await show()
  await page.getByText('No charges in this period').waitFor()
  await page.getByText('No budget. The cost of a month is not limited.').waitFor()
  await expect.poll(() => page.getByRole('table', { name: 'Prices', exact: true }).count()).toBe(1)
  const [events] = await rowsOf('Prices')
  expect(events).toEqual(['Events', expect.stringMatching(/\$/), '10,000', '0'])
})

test('what was charged stands in the tables and is drawn in the chart', async () => {
  const { service } = dashboard
  const events = Array.from({ length: made }, () => customEvent())
  expect((await postBeacon(service.url, beaconOf(service, events))).status).toBe(200)
  const countAll = async () => {
    const answer = await ask(service, '/api/v3/events/web_event/counts')
    return ((await answer.json()) as { total: number }).total
  }
  await waitFor('the events', async () => (await countAll()) === made)
  expect([await charged('web_event', 7), await charged('resolution_hem', 5)]).toEqual([7, 5])
  await page.reload()
  await page.getByRole('table', { name: 'By meter' }).waitFor()
  expect(await rowsOf('By meter')).toEqual([
    ['Events', '7', '7', '$0.00'],
    ['Identity: hashed e-mail', '5', '0', '$0.01'],
  ])
  expect(await rowsOf('Usage by key and meter')).toEqual([
    [expect.stringMatching(/^Demo key ff_live_/), 'Identity: hashed e-mail', '5', '$0.01'],
    [expect.stringMatching(/^Demo key ff_live_/), 'Events', '7', '$0.00'],
  ])
  await page.locator('dt', { hasText: 'Cost so far' }).waitFor()
  expect(await page.locator('.totals dd').first().textContent()).toBe('$0.01')
  await page.getByText('By day', { exact: true }).click()
  const today = new Date().toLocaleDateString('en-US', { dateStyle: 'medium', timeZone: 'UTC' })
  expect(await rowsOf('By day and meter')).toEqual([
    [today, 'Identity: hashed e-mail', '5', '0', '$0.01'],
    [today, 'Events', '7', '7', '$0.00'],
  ])
  // Sorted, as the address says.
  await page
    .getByRole('table', { name: 'By day and meter' })
    .getByRole('button', { name: 'Meter' })
    .click()
  expect((await rowsOf('By day and meter')).map(([, meter]) => meter)).toEqual([
    'Events',
    'Identity: hashed e-mail',
  ])
  expect(new URL(page.url()).searchParams.get('days_sort')).toBe('meter')
  await page.goBack()
  await page.locator('.uplot canvas').waitFor()
  // Both meters' colors are somewhere on the canvas.
  const colors = await page.evaluate<string[]>(`(() => {
    const canvas = document.querySelector('.uplot canvas')
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
    const found = new Set()
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) found.add(data[i] + ' ' + data[i + 1] + ' ' + data[i + 2])
    return [...found]
  })()`)
  expect(colors).toEqual(expect.arrayContaining(['42 157 124', '63 127 208']))
  expect(await violations(page)).toEqual([])
})

test('the chart writes days as all pages do, in the reader’s language', async () => {
  const reader = await open({ locale: 'en-GB' })
  await reader.addInitScript(`{
    window.drawn = []
    const { fillText } = CanvasRenderingContext2D.prototype
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      window.drawn.push(text)
      return fillText.call(this, text, ...rest)
    }
  }`)
  await signIn(reader)
  await reader.getByRole('link', { name: 'Usage' }).click()
  await reader.getByLabel('Period').selectOption('Last 30 days')
  await reader.locator('.uplot canvas').waitFor()
  const drawn = () =>
    reader.evaluate<string[]>('window.drawn.filter((text) => /[a-z]/i.test(text))')
  await expect.poll(async () => (await drawn()).length).toBeGreaterThan(3)
  expect((await drawn()).filter((text) => !/^\d{1,2} [A-Z][a-z]+$/.test(text))).toEqual([])
  await reader.context().close()
})

test('each charge leads to the requests that it is made of', async () => {
  const hem = page
    .getByRole('table', { name: 'Usage by key and meter' })
    .getByRole('link', { name: '5', exact: true })
  await hem.click()
  await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor()
  const rows = page.locator('table.data tbody tr')
  await expect.poll(() => rows.count()).toBe(1)
  expect(await rows.first().textContent()).toContain('/api/v3/events/resolution_hem')
  await page.goBack()
  await page.getByText('By day', { exact: true }).click()
  await page
    .getByRole('table', { name: 'By day and meter' })
    .getByRole('link', { name: '7', exact: true })
    .click()
  await expect
    .poll(() => rows.allTextContents())
    .toEqual([expect.stringContaining('/api/v3/events/web_event')])
  await page.goBack()
  await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
})

test('days before anything was charged show nothing, and a project its own', async () => {
  await page.getByLabel('Period').selectOption('Last month')
  await page.getByText('No charges in this period').waitFor()
  await page.getByLabel('Period').selectOption('Last 30 days')
  await page.getByLabel('Project').selectOption('Demo shop')
  await expect.poll(() => page.locator('.loading').count()).toBe(0)
  await page.getByRole('heading', { name: 'Charged' }).waitFor()
})

test('a budget is set, shown with what is spent of it, holds, and is taken away again', async () => {
  await button(page, 'Set a budget').click()
  await page.getByLabel('Dollars a month').fill('0.01')
  await button(page, 'Save').click()
  await page.getByText('$0.01 of $0.01 this month').waitFor()
  await page.getByText('Used up').waitFor()
  expect((await read('resolution_hem', 1)).status).toBe(402)
  expect(await violations(page)).toEqual([])

  await button(page, 'Set a budget').click()
  expect(await page.getByLabel('Dollars a month').inputValue()).toBe('0.01')
  await page.getByLabel('Dollars a month').fill('')
  await button(page, 'Save').click()
  await page.getByText('No budget. The cost of a month is not limited.').waitFor()
  await expect.poll(async () => (await read('resolution_hem', 1)).status).toBe(200)
})

test('limits of a meter are set and shown, and stay when another is set', async () => {
  for (const [meter, daily] of [
    ['Lookup', '10'],
    ['Contact', '20'],
  ] as const) {
    await button(page, 'Set a limit').click()
    await page.getByLabel('Meter').selectOption(meter)
    await page.getByLabel('Records a day').fill(daily)
    await button(page, 'Save').click()
    await page.getByText(`0 of ${daily} today`).waitFor()
  }
  await page.getByText('0 of 10 today').waitFor()
  await page.setViewportSize({ width: 360, height: 800 })
  expect(await sticksOut(page)).toEqual([])
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('link', { name: 'Audit log' }).click()
  await page.getByText('set budgets and limits of the organization').first().waitFor()
})
