import { expect, test } from 'vitest'
import { keepScreenshots, sticksOut, violations } from './dashboard.ts'
import { eventually, useOverview } from './overview.ts'

/** The chart of the overview: its tiles, its period, its comparison and its keys. */
const it = useOverview()
const dayMs = 86_400_000
const hourMs = 3_600_000
const midnight = Math.floor(Date.now() / dayMs) * dayMs
const month = { start_ms: midnight - 29 * dayMs, end_ms: midnight }

const day = (time: number) => new Date(time).toISOString().slice(0, 10)
const chart = () => it.page.getByRole('slider')
const tableRows = () => it.page.locator('.headline .table-scroll tbody tr')
const cells = async (column: number) =>
  it.page.locator(`.headline .table-scroll tbody td:nth-of-type(${column})`).allTextContents()
const tooltip = () => it.page.locator('.tooltip')

interface Point {
  start_ms: number
  visitors: number
  sessions: number
  bounce_rate: number | null
  converted: number
}

test('each of the seven tiles draws its chart and is kept in the address; the table below has the API’s figures', async () => {
  await it.page.getByText('As a table').click()
  const { timeseries } = await it.analytics<{ timeseries: Point[] }>('timeseries', {
    ...month,
    interval: 'day',
    include: 'sessions,conversions',
  })
  const expected: [name: string, metric: string | null, texts: string[]][] = [
    ['Page views', 'page_views', []],
    ['Events', 'events', []],
    ['Sessions', 'sessions', timeseries.map(({ sessions }) => sessions.toLocaleString('en'))],
    [
      'Bounce rate',
      'bounce_rate',
      timeseries.map(({ bounce_rate }) =>
        bounce_rate === null ? '–' : `${Math.round(bounce_rate * 1_000) / 10}%`,
      ),
    ],
    [
      'Conversions',
      'conversions',
      timeseries.map(({ converted }) => converted.toLocaleString('en')),
    ],
    ['Time on page', 'time_on_page', []],
    ['Visitors', null, timeseries.map(({ visitors }) => visitors.toLocaleString('en'))],
  ]
  for (const [name, metric, texts] of expected) {
    await it.tile(name).click()
    await eventually(() => chart().getAttribute('aria-label')).toMatch(`${name} by day`)
    await it.fresh()
    expect(it.searchParam('metric')).toBe(metric)
    expect(await it.tile(name).getAttribute('aria-pressed')).toBe('true')
    expect(await tableRows().count()).toBe(30)
    // Today's point still grows.
    if (texts.length > 0)
      await eventually(async () => (await cells(1)).slice(0, 29)).toEqual(texts.slice(0, 29))
  }
  await it.tile('Sessions').click()
  await it.page.reload()
  await eventually(() => chart().getAttribute('aria-label')).toMatch('Sessions by day')
  expect(await violations(it.page)).toEqual([])
  expect(await sticksOut(it.page)).toEqual([])
  await it.page.goto(it.overview())
})

test('the arrow keys move a tooltip with both dates, both values and the change; Escape hides it and keeps the filters', async () => {
  await it.page.goto(it.overview('?filter=event_type:eq:page_view'))
  await it.page.locator('.chart canvas').waitFor()
  await it.fresh()
  await chart().focus()
  await it.page.keyboard.press('Home')
  await eventually(() => tooltip().locator('.now').textContent()).not.toBe('')
  const dates = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' })
  const [first, before] = [month.start_ms, month.start_ms - 30 * dayMs]
  await eventually(() => tooltip().locator('.now').textContent()).toContain(dates.format(first))
  expect(await tooltip().locator('.was').textContent()).toContain(dates.format(before))
  await it.page.keyboard.press('ArrowRight')
  await eventually(() => tooltip().locator('.now').textContent()).toContain(
    dates.format(first + dayMs),
  )
  expect(await chart().getAttribute('aria-valuetext')).toContain(dates.format(first + dayMs))
  await it.page.keyboard.press('End')
  await eventually(() => tooltip().locator('.now').textContent()).toContain('(so far)')
  await keepScreenshots(it.page, 'chart-tooltip')
  await chart().focus()
  await it.page.keyboard.press('Home')
  await tooltip().waitFor()
  await it.page.keyboard.press('Escape')
  await tooltip().waitFor({ state: 'detached' })
  expect(it.searchParam('filter')).toBe('event_type:eq:page_view')
  await it.page.goto(it.overview())
})

test('the pointer shows the same; no legend takes a row', async () => {
  await it.page.locator('.chart canvas').waitFor()
  await it.fresh()
  await chart().hover()
  await tooltip().waitFor()
  expect(await tooltip().locator('p').count()).toBe(3)
  expect(await it.page.locator('.u-legend').count()).toBe(0)
  await it.page.mouse.move(0, 0)
  await tooltip().waitFor({ state: 'detached' })
})

test('a click on the chart opens the day of the point, and Enter that of the chosen one', async () => {
  await it.page.goto(it.overview('?period=days7'))
  await it.page.locator('.chart canvas').waitFor()
  await it.fresh()
  const { width, height } = (await chart().locator('.u-over').boundingBox())!
  await chart()
    .locator('.u-over')
    .click({ position: { x: width / 2, y: height / 2 } })
  const middle = day(midnight - 3 * dayMs)
  await eventually(() => it.searchParam('from')).toBe(middle)
  expect(it.searchParam('to')).toBe(middle)
  await it.fresh()
  await eventually(() => chart().getAttribute('aria-label')).toMatch('by hour')
  await it.page.goBack()
  await eventually(() => it.searchParam('period')).toBe('days7')
  await eventually(() => chart().getAttribute('aria-label')).toMatch('by day')
  await it.fresh()
  await chart().press('Home')
  await tooltip().waitFor()
  await chart().press('Enter')
  await eventually(() => it.searchParam('from')).toBe(day(midnight - 6 * dayMs))
  // The only day of a chart is open already.
  await it.fresh()
  await eventually(() => chart().getAttribute('aria-label')).toMatch('by hour')
  await it.page.locator('.chart canvas').waitFor()
  const address = it.page.url()
  await chart().press('Home')
  await tooltip().waitFor()
  await chart().press('Enter')
  expect(it.page.url()).toBe(address)
})

test('the axis covers the whole period by the hour, also what is still to come', async () => {
  const search = `?period=custom&from=${day(midnight - 2 * dayMs)}&to=${day(midnight + dayMs)}`
  await it.page.goto(it.overview(`${search}&interval=hour`))
  await it.page.locator('.chart canvas').waitFor()
  await it.page.getByText('As a table').click()
  await it.fresh()
  expect(await tableRows().count()).toBe(4 * 24)
  expect(await chart().getAttribute('aria-valuemax')).toBe(String(4 * 24 - 1))
  const values = await cells(1)
  const known = values.findLastIndex((text) => text !== '–') + 1
  const passed = Math.ceil((Date.now() - midnight + 2 * dayMs) / hourMs)
  expect(Math.abs(known - passed)).toBeLessThanOrEqual(1)
  expect(values.slice(0, known)).not.toContain('–')
  await keepScreenshots(it.page, 'chart-hours')
})

test('the interval is picked, kept in the address, and only one that fits is offered', async () => {
  await it.page.goto(it.overview())
  const picker = it.page.getByLabel('Interval')
  await picker.waitFor()
  expect(await picker.locator('option').allTextContents()).toEqual(['By hour', 'By day', 'By week'])
  await picker.selectOption('week')
  await eventually(() => chart().getAttribute('aria-label')).toMatch('Visitors by week')
  expect(it.searchParam('interval')).toBe('week')
  await it.page.goto(it.overview('?period=yesterday&interval=week&filter=is_bot:eq:false'))
  await eventually(() => chart().getAttribute('aria-label')).toMatch('Visitors by hour')
})

test('arrows and keys lead to the period before and after; comparisons are chosen, also of chosen days', async () => {
  await it.page.goto(it.overview('?period=days7'))
  await it.page.locator('.tile').first().waitFor()
  const step = (name: string) => it.page.getByRole('button', { name, exact: true })
  expect(await step('Later period').isDisabled()).toBe(true)
  await step('Earlier period').click()
  await eventually(() => it.searchParam('from')).toBe(day(midnight - 13 * dayMs))
  expect(it.searchParam('to')).toBe(day(midnight - 7 * dayMs))
  await it.page.locator('h1').click()
  await it.page.keyboard.press('.')
  await eventually(() => it.searchParam('period')).toBe('days7')
  await it.page.keyboard.press(',')
  await eventually(() => it.searchParam('period')).toBe('custom')
  await it.page.goto(it.overview('?period=days7'))
  await it.page.getByLabel('Comparison').selectOption('year')
  await eventually(() => it.searchParam('compare')).toBe('year')
  await it.fresh()
  // Nobody came a year ago, so there is nothing to compare with.
  await eventually(() => it.tile('Visitors').locator('.tile-change').count()).toBe(0)
  await it.page.getByLabel('Comparison').selectOption('custom')
  await it.page.getByLabel('First day (UTC)').fill(day(midnight - 3 * dayMs))
  await it.page.getByLabel('Last day (UTC)').fill(day(midnight - 2 * dayMs))
  expect(await violations(it.page)).toEqual([])
  await it.page.getByRole('button', { name: 'Show', exact: true }).click()
  await eventually(() => it.searchParam('compare_from')).toBe(day(midnight - 3 * dayMs))
  const { overview } = await it.analytics<{ overview: { visitors: number } }>('overview', {
    start_ms: midnight - 3 * dayMs,
    end_ms: midnight - dayMs,
  })
  await it.fresh()
  await eventually(() => it.tile('Visitors').locator('.tile-change').textContent()).toContain(
    overview.visitors.toLocaleString('en'),
  )
})

test('days are those of the time zone of the project, which its settings change and the page names', async () => {
  await it.page.goto(it.pageOf('settings'))
  await it.page.getByRole('combobox', { name: 'Time zone' }).selectOption('America/Los_Angeles')
  await it.page.getByRole('button', { name: 'Save time zone' }).click()
  await it.page.getByText('Time zone saved').waitFor()
  expect(await violations(it.page)).toEqual([])
  await it.page.goto(it.overview('?period=days7'))
  await it.page.getByText('Los Angeles time').waitFor()
  await it.page.getByText('As a table').click()
  await it.fresh()
  const format = new Intl.DateTimeFormat('sv', { timeZone: 'America/Los_Angeles' })
  const query = {
    start_time: format.format(Date.now() - 6 * dayMs),
    end_time: new Date().toISOString(),
    interval: 'day',
  }
  const { timeseries } = await it.analytics<{ timeseries: Point[] }>('timeseries', query)
  expect(timeseries).toHaveLength(7)
  expect(new Date(timeseries[1]!.start_ms).getUTCHours()).not.toBe(0)
  await eventually(async () => (await cells(1)).slice(0, 6)).toEqual(
    timeseries.slice(0, 6).map(({ visitors }) => visitors.toLocaleString('en')),
  )
})
