/** The page “Archives” of a project. */
import { expect, test } from 'vitest'
import { button, expectAccessible, heading, useDashboard } from './dashboard.ts'

const dashboard = useDashboard()
const { at, open, signIn } = dashboard

test('an archive needs a bucket; it is created with its price in view, paused, continued and deleted', async () => {
  const { organization_id, project_id, api_key, api_secret } = dashboard.service.demo
  const headers = {
    'x-api-key': api_key,
    'x-api-secret': api_secret,
    'content-type': 'application/json',
  }
  const archives = async () => {
    const answer = await fetch(at(`/api/v1/archives?project_id=${project_id}`), { headers })
    return (await answer.json()).archives
  }
  const path = at(`/${organization_id}/projects/${project_id}/archives`)
  const page = await open()
  await signIn(page)
  await page.goto(path)
  await heading(page, 'Archives').waitFor()
  await page.getByRole('link', { name: 'Create an integration of the type S3' }).waitFor()
  expect(await button(page, 'New archive').count()).toBe(0)

  const made = await fetch(at('/api/v1/integrations'), {
    method: 'POST',
    headers,
    body: JSON.stringify({
      project_id,
      type: 's3',
      name: 'Data lake',
      settings: { bucket: 'events', region: 'eu-central-1' },
      secrets: { access_key_id: 'key', secret_access_key: 'secret' },
    }),
  })
  expect(made.status, await made.clone().text()).toBe(201)

  await page.goto(path)
  await button(page, 'New archive').click()
  await page.getByText(/Each event is charged once: .* on the meter Events/).waitFor()
  await expectAccessible(page, 'new-archive')
  await page.getByLabel('First hour').fill('2019-01-01T00:00')
  await button(page, 'Create archive').click()
  await page.getByText('Must be a time within the last 400 days').waitFor()
  // A time in the future is not possible either, so the first hour is a day ago.
  const before = new Date(Date.now() - 86_400_000).toISOString().slice(0, 13)
  await page.getByLabel('First hour').fill(`${before}:00`)
  // The events that it copies at once have a price before the archive exists.
  const { total } = await (
    await fetch(
      at(`/api/v3/events/web_event/counts?project_id=${project_id}&start_time=${before}:00:00Z`),
      { headers },
    )
  ).json()
  await page
    .getByText(new RegExp(`^${total.toLocaleString('en')} events? since then: .*meter Events`))
    .waitFor()
  await button(page, 'Create archive').click()
  await page.getByRole('button', { name: 'Data lake' }).waitFor()
  await expectAccessible(page, 'archives')
  expect(await archives()).toMatchObject([{ active: true, files: 0, rows: 0 }])

  await page.getByRole('button', { name: 'Data lake' }).click()
  await page.getByText(`project=${project_id}/`).waitFor()
  await expectAccessible(page, 'archive')
  await button(page, 'Pause archive').click()
  await page.getByRole('cell', { name: 'Off', exact: true }).waitFor()
  expect(await archives()).toMatchObject([{ active: false }])
  await page.getByRole('button', { name: 'Data lake' }).click()
  await page.getByText('It then also copies, and charges, the hours of its pause.').waitFor()
  await page.getByText(/^[\d,]+ events? since then: .*meter Events/).waitFor()
  await button(page, 'Continue archive').click()
  await page.getByRole('cell', { name: 'Off', exact: true }).waitFor({ state: 'detached' })
  expect(await archives()).toMatchObject([{ active: true, daily_records_max: 10_000_000 }])
  await page.getByRole('button', { name: 'Data lake' }).click()
  await page.getByLabel('Most events a day').fill('500')
  await button(page, 'Save daily maximum').click()
  await page.getByText('Daily maximum saved').waitFor()
  expect(await archives()).toMatchObject([{ active: true, daily_records_max: 500 }])

  await page.getByRole('button', { name: 'Data lake' }).click()
  await button(page, 'Delete this archive…').click()
  await button(page, 'Delete archive').click()
  await page.getByRole('heading', { name: 'Keep your raw events' }).waitFor()
  expect(await archives()).toEqual([])
})
