/** The page “Tracking plan” of a project. */
import { expect, test } from 'vitest'
import { beaconOf, customEvent, postBeacon } from '../harness/api.ts'
import { waitFor } from '../harness/service.ts'
import { button, expectAccessible, heading, useDashboard } from './dashboard.ts'

const dashboard = useDashboard()
const { at, open, signIn } = dashboard

test('an event outside the plan is added to it, edited and removed', async () => {
  const { service } = dashboard
  const event = customEvent()
  const event_data = { ...event.event_data, name: 'Ordered', properties: { total: 12, note: 'x' } }
  await postBeacon(service.url, beaconOf(service, [{ ...event, event_data }]))
  const { organization_id, project_id, api_key, api_secret } = service.demo
  const headers = { 'x-api-key': api_key, 'x-api-secret': api_secret }
  const ask = async (path: string) =>
    (await fetch(at(`/api/v1/tracking-plan${path}?project_id=${project_id}`), { headers })).json()
  await waitFor('the event', async () => (await ask('/unplanned')).events.length > 0)

  const page = await open()
  await signIn(page)
  await page.goto(at(`/${organization_id}/projects/${project_id}/tracking-plan`))
  await heading(page, 'Tracking plan').waitFor()
  await page.getByRole('button', { name: 'Ordered' }).click()
  const schema = page.getByLabel('JSON Schema of the properties')
  expect(JSON.parse(await schema.inputValue())).toMatchObject({
    properties: { total: { type: 'integer' }, note: { type: 'string' } },
  })
  await schema.fill('{ "type": "text" }')
  await button(page, 'Save event').click()
  await page.getByText('Must be "object"').waitFor()
  await schema.fill('{')
  await button(page, 'Save event').click()
  await page.getByText('Must be JSON').waitFor()
  await expectAccessible(page, 'planned-event')
  await schema.fill('{ "type": "object", "properties": { "total": { "type": "number" } } }')
  await page.getByLabel('Description').fill('An order')
  await button(page, 'Save event').click()
  await page.getByText('Every custom event of the last 30 days is planned.').waitFor()
  await page.getByText('An order').waitFor()
  await expectAccessible(page, 'tracking-plan')

  await page.locator('select[name=on_unplanned]').selectOption('Reject')
  await button(page, 'Save settings').click()
  await waitFor('the plan', async () => (await ask('')).tracking_plan.on_unplanned === 'reject')
  expect((await ask('')).tracking_plan.events).toMatchObject({
    Ordered: { description: 'An order' },
  })
  // The page may not have read the saved version yet.
  await page.reload()
  await page.getByRole('button', { name: 'Ordered' }).click()
  await button(page, 'Remove from the plan').click()
  await page.getByText('No event is planned').waitFor()
  expect((await ask('')).tracking_plan.events).toEqual({})
})
