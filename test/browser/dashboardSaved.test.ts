import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { button, expectAccessible, heading, keepScreenshots, useDashboard } from './dashboard.ts'

/** Segments, annotations and funnels that the people of a project save. */
const dashboard = useDashboard({ hasVisitors: true })
const { at, open, signIn } = dashboard
let page: Page
const addressOf = (path: string) => {
  const { organization_id, project_id } = dashboard.service.demo
  return at(`/${organization_id}/projects/${project_id}/${path}`)
}
const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 30_000 })
const chips = () => page.getByRole('list', { name: 'Filters' }).getByRole('listitem')

beforeAll(async () => {
  page = await open()
  await signIn(page)
})

test('filters are saved as a segment, chosen again on another page, and deleted with undo', async () => {
  await page.goto(addressOf('overview?filter=device_type:eq:mobile&filter=country:ne:FR'))
  await page.locator('.tile').first().waitFor()
  await page.getByLabel('Segment').selectOption('Save or edit segments…')
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Device is Mobile and Country is not France').waitFor()
  await dialog.getByLabel('Name').fill('Phones outside France')
  await keepScreenshots(page, 'segment-dialog')
  // On a phone, the buttons of a segment leave its name room.
  await page.setViewportSize({ width: 390, height: 844 })
  const name = dialog.getByText('Phones from search engines', { exact: true })
  expect((await name.boundingBox())!.width).toBeGreaterThan(150)
  await page.setViewportSize({ width: 1280, height: 900 })
  await button(page, 'Save segment').click()
  await eventually(() => chips().allTextContents()).toEqual(['Phones outside France×'])
  expect(new URL(page.url()).searchParams.getAll('filter')).toEqual([
    'device_type:eq:mobile,country:ne:FR',
  ])
  await expectAccessible(page, 'overview with a segment')
  await keepScreenshots(page, 'segment-chosen')

  await page.goto(addressOf('goals'))
  await page.getByLabel('Segment').selectOption('Phones outside France')
  await eventually(() => chips().allTextContents()).toEqual(['Phones outside France×'])
  await page.getByLabel('Segment').selectOption('Save or edit segments…')
  await expectAccessible(page, 'segments')
  await button(page, 'Delete Phones outside France').click()
  await eventually(() => button(page, 'Delete Phones outside France').count()).toBe(0)
  await page.keyboard.press('Escape')
  await button(page, 'Undo').click()
  await eventually(() => chips().allTextContents()).toEqual(['Phones outside France×'])
})

test('an annotation is added to the chart, edited and deleted with undo', async () => {
  await page.goto(addressOf('overview'))
  await page.locator('.u-over').first().waitFor()
  await button(page, 'Add annotation').click()
  await page.getByLabel('Text', { exact: true }).fill('New prices')
  const yesterday = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 16)
  await page.getByLabel('Time', { exact: true }).fill(yesterday)
  await expectAccessible(page, 'annotation dialog')
  await button(page, 'Save annotation').click()
  const notes = page.getByRole('region', { name: 'Annotations' })
  await notes.getByText('New prices').waitFor()
  const mark = page.locator('.annotation-mark')
  await eventually(() => mark.getAttribute('title')).toBe('New prices')
  const [chart, line] = [await page.locator('.u-over').boundingBox(), await mark.boundingBox()]
  expect(line!.x).toBeGreaterThan(chart!.x + chart!.width / 2)
  expect(line!.x).toBeLessThan(chart!.x + chart!.width)
  await expectAccessible(page, 'annotations')
  await keepScreenshots(page, 'annotations')

  await button(page, 'Edit New prices').click()
  await page.getByLabel('Text', { exact: true }).fill('New prices in euros')
  await button(page, 'Save annotation').click()
  await notes.getByText('New prices in euros').waitFor()
  await eventually(() => mark.getAttribute('title')).toBe('New prices in euros')
  await button(page, 'Edit New prices in euros').click()
  await button(page, 'Delete this annotation').click()
  await eventually(() => mark.count()).toBe(0)
  await button(page, 'Undo').click()
  await eventually(() => mark.count()).toBe(1)
})

test('a funnel is saved, opened by its name, edited and deleted', async () => {
  await page.goto(addressOf('funnels?step=event_type:eq:page_view&step=event_type:eq:click'))
  await button(page, 'Save funnel').click()
  await page.getByRole('dialog').getByLabel('Name').fill('To a click')
  await page.getByRole('dialog').getByRole('button', { name: 'Save funnel' }).click()
  await eventually(() => page.getByLabel('Saved funnel').inputValue()).not.toBe('')
  const saved = page.url()
  await page.goto(addressOf('funnels'))
  await page.getByLabel('Saved funnel').selectOption('To a click')
  await heading(page, 'Funnels').waitFor()
  await eventually(() => page.url()).toBe(saved)
  await button(page, 'Move step 2 up').click()
  await button(page, 'Save changes').click()
  await eventually(() => button(page, 'Save changes').count()).toBe(0)
  await page.goto(addressOf('funnels'))
  await page.getByLabel('Saved funnel').selectOption('To a click')
  await eventually(() => new URL(page.url()).searchParams.getAll('step')).toEqual([
    'event_type:eq:click',
    'event_type:eq:page_view',
  ])
  await expectAccessible(page, 'a saved funnel')
  await keepScreenshots(page, 'saved-funnel')
  await button(page, 'Delete To a click').click()
  const options = page.getByLabel('Saved funnel').locator('option')
  await eventually(() => options.allTextContents()).toEqual(['New funnel', 'From product to order'])
})

test('the demo has segments, a funnel with visitors and an alert', async () => {
  await page.goto(addressOf('funnels'))
  await page.getByLabel('Saved funnel').selectOption('From product to order')
  await page.getByRole('rowheader', { name: /thanks/ }).waitFor()
  await page.goto(addressOf('overview'))
  await page.getByLabel('Segment').selectOption('Phones from search engines')
  await eventually(() => chips().allTextContents()).toEqual(['Phones from search engines×'])
  await page.locator('.tile').first().waitFor()
  await page.goto(addressOf('alerts'))
  await page.getByText('Visitors above 1,000 in 24 hours').waitFor()
})
