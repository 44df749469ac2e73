import { setTimeout } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { violations } from './dashboard.ts'
import { eventually, useOverview } from './overview.ts'

/** How pages are laid out while they load, and on a phone. */
const it = useOverview()
const phone = { width: 390, height: 844 }
const desktop = { width: 1280, height: 900 }
/** The limit that web.dev calls good is 0.1. */
const shiftMax = 0.01

/** Opens a browser that adds up layout shifts, with a network so slow that skeletons are seen. */
async function openSlowly(viewport: { width: number; height: number }): Promise<Page> {
  const page = await it.dashboard.open({ viewport })
  await it.dashboard.signIn(page)
  await page.addInitScript(`
    window.shift = 0
    new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) window.shift += value
    }).observe({ type: 'layout-shift', buffered: true })
  `)
  let asked = 0
  await page.route('**/api/**', async (route) => {
    // The requests of a page are not answered in order.
    await setTimeout(100 + 50 * (asked++ % 5))
    await route.continue()
  })
  return page
}

describe.each([
  ['desktop', desktop],
  ['phone', phone],
] as const)('on a %s', (_, viewport) => {
  test.each(['overview', 'events', 'people'])(
    '%s: a skeleton is seen, and nothing jumps when its content comes',
    async (name) => {
      const page = await openSlowly(viewport)
      await page.goto(it.pageOf(name))
      await page.locator('.loading').first().waitFor()
      await page.locator('main h1').waitFor()
      await eventually(() => page.locator('.loading, .stale').count()).toBe(0)
      if (name === 'overview') await page.locator('.chart canvas').waitFor()
      await page.waitForTimeout(500)
      expect(await page.evaluate('window.shift')).toBeLessThanOrEqual(shiftMax)
      await page.context().close()
    },
  )
})

test('the skeleton of the overview has seven tiles, a chart and panels of eight rows', async () => {
  const page = await openSlowly(desktop)
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/analytics/overview?**', async (route) => {
    await held
    await route.continue()
  })
  await page.goto(it.overview())
  const skeleton = page.locator('.wide .loading')
  await skeleton.waitFor()
  expect(await skeleton.locator('.tile').count()).toBe(7)
  expect(await skeleton.locator('.chart').count()).toBe(1)
  expect(await skeleton.locator('.panel').first().locator('.bar').count()).toBe(9)
  expect(await skeleton.getByText('Loading…').count()).toBe(1)
  const { height } = (await skeleton.locator('.headline').boundingBox())!
  release()
  await page.locator('.chart canvas').waitFor()
  const drawn = (await page.locator('.headline').boundingBox())!
  expect(Math.abs(drawn.height - height)).toBeLessThan(40)
  await page.context().close()
})

test.each([
  ['events', 'Events'],
  ['people', 'Visitors'],
])('on a screen of 1280 px the table of %s shows its last column', async (path, caption) => {
  const page = await it.dashboard.open({ viewport: desktop })
  await it.dashboard.signIn(page)
  await page.goto(it.pageOf(path))
  const table = page.getByRole('group', { name: caption, exact: true })
  await table.locator('tbody tr').first().waitFor()
  expect(
    await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth),
  ).toBeLessThanOrEqual(1)
  await page.context().close()
})

describe('on a phone', () => {
  test('the header shows the project’s name instead of the product’s', async () => {
    const page = await it.dashboard.open({ viewport: phone })
    await it.dashboard.signIn(page)
    expect(await page.locator('.brand').innerText()).toBe('Footfall')
    await page.goto(it.overview())
    await eventually(() => page.locator('.brand').innerText()).toBe('Demo shop')
    await page.setViewportSize(desktop)
    await eventually(() => page.locator('.brand').innerText()).toBe('Footfall')
    await page.context().close()
  })

  test('a time in the first column takes at most two lines', async () => {
    const page = await it.dashboard.open({ viewport: phone })
    await it.dashboard.signIn(page)
    await page.goto(it.pageOf('events'))
    const time = page.locator('table.data tbody td:first-child time').first()
    await time.waitFor()
    const lines = await time.evaluate((element) => {
      const range = element.ownerDocument.createRange()
      range.selectNodeContents(element)
      return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size
    })
    expect(lines).toBeLessThanOrEqual(2)
    await page.context().close()
  })

  test('the rows of a table scroll under its first column and its heads; numbers end where their heads end', async () => {
    const page = await it.dashboard.open({ viewport: phone })
    await it.dashboard.signIn(page)
    await page.goto(it.overview('?details=event_type'))
    const table = page.getByRole('dialog').locator('.scroll')
    await table.locator('tbody tr').first().waitFor()
    const xOf = async (column: number, row: string) =>
      (await table.locator(`${row} > :nth-child(${column})`).first().boundingBox())!.x
    const [first, last] = [await xOf(1, 'tbody tr'), await xOf(5, 'tbody tr')]
    await table.evaluate((element) => element.scrollBy(1_000, 0))
    await eventually(() => xOf(5, 'tbody tr')).toBeLessThan(last)
    expect(await xOf(1, 'tbody tr')).toBe(first)
    expect(await xOf(1, 'thead tr')).toBe(first)
    const endOf = (selector: string) =>
      table.locator(selector).evaluate((element) => {
        const range = element.ownerDocument.createRange()
        range.selectNodeContents(element)
        return range.getBoundingClientRect().right
      })
    const [head, number] = [
      await endOf('thead th:nth-child(3) button'),
      await endOf('tbody tr:first-child td:nth-child(3) a'),
    ]
    expect(Math.abs(head - number)).toBeLessThanOrEqual(1)
    await table.evaluate((element) => element.scrollBy(0, 150))
    const top = (await table.boundingBox())!.y
    const { y } = (await table.locator('thead th').first().boundingBox())!
    expect(Math.abs(y - top)).toBeLessThanOrEqual(2)
    expect(await violations(page)).toEqual([])
    // The first column is narrow, and no time in it is cut off.
    await page.goto(it.pageOf('events'))
    const time = page.locator('table.data tbody td:first-child').first()
    await time.waitFor()
    expect(await time.evaluate((cell) => cell.scrollWidth <= cell.clientWidth)).toBe(true)
    await page.context().close()
  })
})
