import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { beforeAll, expect, test } from 'vitest'
import { ask, beaconOf, customEvent, postBeacon, readEvent } from '../harness/api.ts'
import { waitFor } from '../harness/service.ts'
import {
  button,
  copied,
  expectAccessible,
  keepScreenshots,
  sticksOut,
  useDashboard,
  violations,
} from './dashboard.ts'

const dashboard = useDashboard()
const { at, open, signIn } = dashboard
let page: Page

const send = async (...events: unknown[]) => {
  expect(
    (await postBeacon(dashboard.service.url, beaconOf(dashboard.service, events))).status,
  ).toBe(200)
}
const rejected = () => ({ ...customEvent(), event_data: { name: 7 } })
const stored = customEvent({ plan: { name: 'gold', seats: [1, 2] } })
const wrong = rejected()

const eventsPage = (query = '') => {
  const { organization_id, project_id } = dashboard.service.demo
  return at(`/${organization_id}/projects/${project_id}/events${query}`)
}
const dialog = () => page.getByRole('dialog', { name: 'Event', exact: true })
const steps = () => dialog().locator('.trace .step').allTextContents()
const find = async (eventId: string) => {
  await page.getByRole('searchbox', { name: 'Event id' }).fill(eventId)
  await page.keyboard.press('Enter')
  await dialog().locator('.trace').waitFor()
}
const close = async () => {
  await page.keyboard.press('Escape')
  await dialog().waitFor({ state: 'detached' })
}

beforeAll(async () => {
  page = await open()
  await signIn(page)
  await send(stored, customEvent(), customEvent(), wrong)
  await readEvent(dashboard.service, stored.event_id)
})

const shownEvents = () => page.locator('table.data tbody tr')

test('events load at once while they are free, and the footer counts the free records', async () => {
  await page.goto(eventsPage())
  await page.getByRole('heading', { name: '3 events match' }).waitFor()
  await expect.poll(() => shownEvents().count()).toBe(3)
  await expect
    .poll(() => page.locator('.free-records').textContent())
    // The fourth was read when the test waited for it.
    .toBe('4 of 10,000 free records used this month.')
  expect(await page.getByText('$').count()).toBe(0)
  // Nothing is hidden, because no bot came.
  expect(await page.getByText('Bots hidden').count()).toBe(0)
  await expectAccessible(page, 'events')
  await keepScreenshots(page, 'events')
})

test('events have the times of the project’s zone, as figures do, wherever the reader is', async () => {
  const abroad = await open({ timezoneId: 'Asia/Tokyo' })
  await signIn(abroad)
  await abroad.goto(eventsPage())
  const time = abroad.locator('table.data tbody tr').last().getByRole('cell').first()
  const text = (await time.textContent())!
  const minutes = Math.abs(Date.parse(`${text} UTC`) - Date.now()) / 60_000
  expect(minutes).toBeLessThan(60)
  await abroad.context().close()
})

test('rows are sorted and searched, and the address says so', async () => {
  await button(page, 'Event').click()
  expect(new URL(page.url()).searchParams.get('sort')).toBe('event_type')
  await button(page, 'Columns').click()
  await page.getByRole('checkbox', { name: 'Browser', exact: true }).check()
  await button(page, 'Show columns').click()
  expect(new URL(page.url()).searchParams.get('columns')).toContain('browser')
  await page.getByRole('columnheader', { name: 'Browser' }).waitFor()
})

test('a stored event tells what happened to it, its payload, and how to ask for it', async () => {
  await send(stored)
  await waitFor('the duplicate', async () => {
    const answer = await ask(dashboard.service, `/api/v1/events/${stored.event_id}/trace`)
    const { duplicates } = (await answer.json()) as { duplicates: unknown[] }
    return duplicates.length === 1
  })
  await find(stored.event_id)
  await dialog().getByText('Duplicates arrived').waitFor()
  expect(await steps()).toEqual([
    'Received',
    'Accepted',
    'Duplicate',
    'Bot',
    'Opted out',
    'Stored',
    'Identified',
  ])
  await dialog().getByText('seats').waitFor()
  await dialog().getByRole('tab', { name: 'Python' }).click()
  await dialog().getByRole('button', { name: 'Copy the call in Python' }).click()
  expect(await copied(page)).toContain(`event_id%3Aeq%3A${stored.event_id}`)
  expect(await violations(page)).toEqual([])
  expect(await sticksOut(page)).toEqual([])
  await keepScreenshots(page, 'event')
  await close()
})

test('a rejected event tells where and why, and one that nobody knows what may be', async () => {
  await find(wrong.event_id)
  expect(await steps()).toEqual(['Received', 'Rejected'])
  await dialog().getByText('event_data').first().waitFor()
  await dialog().getByRole('heading', { name: 'As sent' }).waitFor()
  await keepScreenshots(page, 'event-rejected')
  await close()
  await find(randomUUID())
  expect(await steps()).toEqual(['Not found'])
  await dialog().getByText('It never arrived').waitFor()
  await close()
})

/** Has the page think that its tab is seen, or not, and counts what it asks for from then on. */
const setHidden = (isHidden: boolean) =>
  page.evaluate(`(() => {
    window.asked = 0
    window.realFetch ??= window.fetch
    window.fetch = (...args) => (window.asked++, window.realFetch(...args))
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} })
    document.dispatchEvent(new Event('visibilitychange'))
  })()`)

test('the stream shows what is stored and what is rejected, as it comes in', async () => {
  await page.goto(eventsPage('?tab=live'))
  await button(page, 'Start').click()
  const [good, bad] = [customEvent({ url: 'x' }), rejected()]
  await send(good, bad)
  const outcomes = page.locator('table.data tbody .badge')
  await expect
    .poll(async () => new Set(await outcomes.allTextContents()), { timeout: 30_000 })
    .toEqual(new Set(['stored', 'rejected']))
  // In a tab that nobody sees it asks for nothing, which would be charged, and goes on where it was.
  await setHidden(true)
  const shown = await outcomes.count()
  const unseen = customEvent({ url: 'unseen' })
  await send(unseen)
  await readEvent(dashboard.service, unseen.event_id)
  expect(await page.evaluate('window.asked')).toBe(0)
  await setHidden(false)
  await expect.poll(() => outcomes.count(), { timeout: 30_000 }).toBeGreaterThan(shown)
  await button(page, 'Pause').click()
  expect(await violations(page)).toEqual([])
  await page.setViewportSize({ width: 360, height: 800 })
  expect(await sticksOut(page)).toEqual([])
  await page.setViewportSize({ width: 1280, height: 900 })
  await keepScreenshots(page, 'events-live')
  // By the keyboard alone: into the table, and to the first of its events.
  await page.locator('.scroll').focus()
  for (let presses = 0; presses < 5; presses++) await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await dialog().locator('.trace').waitFor()
})

test('when the free records are used, the price comes before anything is read', async () => {
  const { api_key, api_secret, organization_id } = dashboard.service.demo
  const headers = { 'x-api-key': api_key, 'x-api-secret': api_secret }
  const charged = async () => {
    const answer = await fetch(at('/api/v1/billing/usage/by-meter'), { headers })
    return JSON.stringify(await answer.json())
  }
  await dashboard.postgres(
    `INSERT INTO meter_prices (organization_id, meter, micros_per_thousand, free_records_per_month)
     VALUES ($1, 'events', 100000, 1)`,
    [organization_id],
  )
  const before = await charged()
  await page.goto(eventsPage('?order=asc'))
  await page
    .getByText(/cost money: \d+ records on the meter Events: under \$0\.01 at most\.$/)
    .waitFor()
  await expectAccessible(page, 'events that cost money')
  await keepScreenshots(page, 'events-cost')
  expect(await shownEvents().count()).toBe(0)
  expect(await charged()).toBe(before)
  await page.getByRole('button', { name: /^Read \d+ events$/ }).click()
  await expect.poll(() => shownEvents().count()).toBeGreaterThan(2)
  await page.getByText('All 1 free records of this month are used.').waitFor()
})
