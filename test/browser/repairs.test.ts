/** The page “Repairs” of a project. */
import { expect, test } from 'vitest'
import { ask, beaconOf, customEvent, postBeacon, readEvent, readRows } from '../harness/api.ts'
import { waitFor } from '../harness/service.ts'
import { button, expectAccessible, heading, useDashboard } from './dashboard.ts'

const dashboard = useDashboard()
const { at, open, signIn } = dashboard

const openRepairs = async () => {
  const { organization_id, project_id } = dashboard.service.demo
  const page = await open()
  await signIn(page)
  await page.goto(at(`/${organization_id}/projects/${project_id}/repairs`))
  await heading(page, 'Repairs').waitFor()
  return page
}
const json = async (path: string) => (await ask(dashboard.service, path)).json()

test('a rejected event is corrected and stored; while it is invalid, the dialog says why', async () => {
  const { service } = dashboard
  const { project_id } = service.demo
  const event = customEvent()
  const wrong = { ...event, event_data: { ...event.event_data, name: 7 } }
  await postBeacon(service.url, beaconOf(service, [wrong as unknown as typeof event]))
  await waitFor('the rejection', async () => {
    const { rejected_events } = await json(`/api/v1/rejected_events?project_id=${project_id}`)
    return rejected_events.length > 0
  })
  const page = await openRepairs()
  await page.getByText('Event name must be a string', { exact: true }).waitFor()
  await expectAccessible(page, 'repairs')
  await button(page, 'Load content to correct events').click()
  const row = page.getByRole('table', { name: 'Rejected events' }).getByRole('row').nth(1)
  await row.getByRole('button').click()
  await expectAccessible(page, 'resend')
  const text = page.getByLabel('Event as JSON')
  await button(page, 'Resend event').click()
  await page.getByText('Still invalid: Event name must be a string').waitFor()
  await text.fill('{')
  await button(page, 'Resend event').click()
  await page.getByText('Must be JSON').waitFor()
  await text.fill(JSON.stringify(event))
  await button(page, 'Resend event').click()
  await page.getByText('The event is on its way').waitFor()
  await readEvent(service, event.event_id)
  await page.context().close()
})

test('exactly the counted events are deleted, after a second click', async () => {
  const { service } = dashboard
  const { project_id } = service.demo
  const kept = customEvent()
  const wrong = Array.from({ length: 3 }, () => ({
    ...customEvent(),
    event_data: { ...kept.event_data, name: 'Wrong' },
  }))
  await postBeacon(service.url, beaconOf(service, [kept, ...wrong]))
  for (const { event_id } of [kept, ...wrong]) await readEvent(service, event_id)

  const page = await openRepairs()
  await button(page, 'Delete events…').click()
  await page.getByText('Advanced').click()
  await button(page, 'Count events').click()
  await page.getByText('Give a condition, or choose all events of the period.').waitFor()
  await page.getByLabel('Conditions as text').fill('event_data.name:eq:Wrong')
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
  await page.getByLabel('From').fill('2024-01-01T00:00')
  await page.getByLabel('Until').fill(`${tomorrow}T00:00`)
  await button(page, 'Count events').click()
  await page.getByText('3 events of this project match.').waitFor()
  await expectAccessible(page, 'delete-events')
  await page.getByLabel('Events', { exact: true }).selectOption('all of the period')
  await button(page, 'Count events').click()
  await page.getByText(/^[45] events of this project match/).waitFor()
  await page.getByLabel('Events', { exact: true }).selectOption('that meet conditions')
  // An edit invalidates the count.
  await page.getByLabel('From').fill('2024-01-02T00:00')
  await button(page, 'Count events').click()
  await button(page, 'Delete 3 events').click()
  await page.getByText('3 events will be deleted').waitFor()
  const isGone = async (id: string) =>
    (await readRows(service, { filter: `event_id:eq:${id}` })).length === 0
  await waitFor('the deletion', () => isGone(wrong[0]!.event_id), 120_000)
  expect(await isGone(kept.event_id)).toBe(false)
  const { event_deletions } = await json(`/api/v1/event-deletions?project_id=${project_id}`)
  expect(event_deletions).toMatchObject([{ events: 3, filter: 'event_data.name:eq:Wrong' }])
  await page.getByRole('cell', { name: /Wrong/ }).waitFor()
  await page.context().close()
})

test('one identity link is removed by the address of a person', async () => {
  const page = await openRepairs()
  await page.getByText('No links were removed.').waitFor()
  await button(page, 'Remove a link…').click()
  await page.getByLabel('Visitor id').fill('not an id')
  await page.getByLabel('E-mail address or its hash').fill('ada@acme.example')
  await button(page, 'Remove link').click()
  await page.locator('dialog .fault').waitFor()
  await expectAccessible(page, 'remove-link')
  await page.getByLabel('Visitor id').fill(crypto.randomUUID())
  await button(page, 'Remove link').click()
  await page.getByText('The removal is in progress').waitFor()
  const { link_removals } = await json('/api/v1/privacy/link-removals')
  expect(link_removals).toMatchObject([{ status: 'pending' }])
  await page.getByText(link_removals[0].removal_id).waitFor()
  await page.context().close()
})
