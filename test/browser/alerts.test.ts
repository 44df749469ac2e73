/** The page “Alerts” of a project. */
import { expect, test } from 'vitest'
import { waitFor } from '../harness/service.ts'
import { button, expectAccessible, heading, useDashboard } from './dashboard.ts'

const dashboard = useDashboard({ sendsMail: true })
const { at, open, signIn } = dashboard

test('an alert is created, raised by the job, changed and deleted', async () => {
  const { organization_id, project_id, api_key, api_secret, admin_email } = dashboard.service.demo
  const page = await open()
  await signIn(page)
  await page.goto(at(`/${organization_id}/projects/${project_id}/alerts`))
  await heading(page, 'Alerts').waitFor()
  await page.getByText('No alerts.').waitFor()
  await button(page, 'New alert').click()
  await page.getByLabel('Name', { exact: true }).fill('Quiet')
  await page.getByLabel('Above or below', { exact: true }).selectOption('Below')
  await page.getByLabel('Value').fill('1000000')
  await expectAccessible(page, 'alert-dialog')
  await page.getByText('Nobody receives this alert. Choose a member').waitFor()
  await button(page, 'Save without a receiver').waitFor()
  await page.locator('dialog fieldset input[type=checkbox]').first().check()
  await page.getByText('Nobody receives this alert.').waitFor({ state: 'detached' })
  await page.getByLabel('Chat webhook').fill('http://10.0.0.1/hook')
  await button(page, 'Save alert').click()
  await page.getByText('is not on the public Internet').waitFor()
  await page.getByLabel('Chat webhook').fill('')
  await button(page, 'Save alert').click()
  await page.getByText('Visitors below 1,000,000 in an hour').waitFor()
  await page.getByRole('cell', { name: '1 member', exact: true }).waitFor()

  const headers = { 'x-api-key': api_key, 'x-api-secret': api_secret }
  const alerts = async () => {
    const url = at(`/api/v1/analytics/alerts?project_id=${project_id}`)
    return (await (await fetch(url, { headers })).json()).alerts
  }
  expect((await alerts())[0].member_ids, admin_email).toHaveLength(1)
  // The job of the service checks each alert within a minute.
  await waitFor('the check', async () => (await alerts())[0].is_raised, 120_000)
  await page.reload()
  await page.getByText('Raised', { exact: true }).waitFor()
  await expectAccessible(page, 'alerts')

  await page.getByRole('button', { name: 'Quiet' }).click()
  await page.getByLabel('Check this alert').uncheck()
  await button(page, 'Save alert').click()
  await page.getByText('Off', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Quiet' }).click()
  await button(page, 'Delete alert').click()
  await page.getByText('No alerts.').waitFor()
})

test('a visit alert is created with its price in view, changed and deleted', async () => {
  const { organization_id, project_id } = dashboard.service.demo
  const page = await open()
  await signIn(page)
  await page.goto(at(`/${organization_id}/projects/${project_id}/alerts`))
  await page.getByText('No visit alerts.').waitFor()
  await button(page, 'New visit alert').click()
  await page.getByLabel('Name', { exact: true }).fill('Acme')
  await page.getByLabel('Domain').fill('acme.example')
  await page.getByText(/Price: 1 record on the meter Identity: full profile: \$0\.02/).waitFor()
  await expectAccessible(page, 'visit-alert-dialog')
  await button(page, 'Save without a receiver').click()
  await page.getByText('People of acme.example').waitFor()
  await page.getByRole('cell', { name: 'Nobody', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Acme' }).click()
  await page.getByLabel('Report visits of').selectOption('A person')
  await page.getByLabel('E-mail address or its hash').fill('ada@acme.example')
  await page.getByLabel('Identity data').selectOption('Hashed e-mail')
  await page.getByText(/meter Identity: hashed e-mail/).waitFor()
  await page.getByLabel('Chat webhook').fill('https://chat.example/hook')
  await page.getByLabel('Unverified visitors charged a day').fill('5')
  await button(page, 'Save visit alert').click()
  await page.getByText(/The person [0-9a-f]{12}…/).waitFor()
  await page.getByRole('cell', { name: 'chat', exact: true }).waitFor()
  await expectAccessible(page, 'visit-alerts')
  await page.getByRole('cell', { name: '0 verified, 0 unverified', exact: true }).waitFor()
  await page.getByRole('button', { name: 'Acme' }).click()
  expect(await page.getByLabel('Unverified visitors charged a day').inputValue()).toBe('5')
  await page.getByLabel('Report visits of').selectOption('Visitors by a filter')
  // The fields are those of the identity data.
  const names = () => page.getByLabel('Field').locator('option').allTextContents()
  await expect.poll(names).not.toContain('Company industry')
  await page.getByLabel('Identity data').selectOption('Full profile')
  await expect.poll(names).toContain('Company industry')
  await page.getByLabel('Field').selectOption('Company industry')
  await page.getByLabel('Operator').selectOption('contains')
  await page.getByRole('textbox', { name: 'Value' }).fill('Retail')
  await expectAccessible(page, 'visit-alert-filter')
  await button(page, 'Save visit alert').click()
  await page.getByText('Company industry contains Retail').waitFor()
  await page.getByRole('button', { name: 'Acme' }).click()
  expect(await page.getByRole('textbox', { name: 'Value' }).inputValue()).toBe('Retail')
  await button(page, 'Delete visit alert').click()
  await page.getByText('No visit alerts.').waitFor()
})
