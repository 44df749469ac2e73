/** Audiences to exports, webhooks, requests and people in the dashboard, over the demo's sample visitors. */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startReceiver } from '../api/activation/webhooks/receiver.ts'
import { ask } from '../harness/api.ts'
import {
  button,
  copied,
  keepScreenshots,
  sticksOut,
  useDashboard,
  violations,
} from './dashboard.ts'

const dashboard = useDashboard({ hasVisitors: true })
const { at, open, signIn } = dashboard
let page: Page
let receiver: Awaited<ReturnType<typeof startReceiver>>

const inProject = (path: string) => {
  const { organization_id, project_id } = dashboard.service.demo
  return at(`/${organization_id}/projects/${project_id}/${path}`)
}
const show = async (url: string, heading: string) => {
  await page.goto(url)
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
  await loaded()
}
const loaded = () =>
  expect.poll(() => page.locator('.loading').count(), { timeout: 30_000 }).toBe(0)
/** A page as it is now: axe-core finds nothing, on a phone nothing sticks out; kept to be looked at. */
const check = async (name: string) => {
  await loaded()
  expect(await violations(page), name).toEqual([])
  await page.setViewportSize({ width: 360, height: 800 })
  expect(await sticksOut(page), name).toEqual([])
  await page.setViewportSize({ width: 1280, height: 900 })
  await keepScreenshots(page, name)
}
const rows = (caption: string) =>
  page.getByRole('table', { name: caption, exact: true }).locator('tbody tr')

/** Records that were charged this month on the meter of audiences. */
const chargedRecords = async (): Promise<number> => {
  const answer = await ask(dashboard.service, '/api/v1/billing/usage/by-meter')
  const { meters } = await answer.json()
  return meters.find(({ meter }: { meter: string }) => meter === 'audience')?.records ?? 0
}
/** Texts of tables that are wider than their cell. */
const cutOff = (): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('table.data td')]
    .filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.innerText)`)

beforeAll(async () => {
  receiver = await startReceiver()
  page = await open()
  await signIn(page)
}, 600_000)
afterAll(() => receiver?.close())

test('a list: lines that are pasted are counted, and each that is refused is told with its reason', async () => {
  await show(inProject('lists'), 'Lists')
  await button(page, 'New list').first().click()
  await page.getByLabel('Name', { exact: true }).fill('Customers')
  await page
    .getByLabel('Or paste items')
    .fill('ada@customers.example\nnot an address\nada@customers.example')
  await button(page, 'Create list').click()
  await page.getByRole('heading', { name: 'Customers', level: 1 }).waitFor()
  await page.locator('.badge', { hasText: 'completed' }).waitFor()
  await expect.poll(() => rows('Rejected lines').count()).toBe(1)
  expect(await rows('Imports').first().innerText()).toMatch(/3\s+0\s+1\s+1\s+1/)
  await page
    .getByText('0% matched: profiles exist for 0 of 1 new row. Importing is free.')
    .waitFor()
  await check('list')
})

test('an audience: a template is estimated and priced before it is saved, then built', async () => {
  await show(inProject('audiences/new'), 'New audience')
  const estimate = page.locator('.estimate')
  await button(page, 'Create audience').click()
  await page.getByText('Enter a name for the audience.').waitFor()
  await page.getByLabel('Start with').selectOption('Checkout visitors')
  // The condition of the template is shown, not hidden.
  await page.getByLabel('Operator').first().waitFor()
  const members = estimate.locator('.figure')
  await members.getByText(/^[\d,]+ members$/).waitFor()
  await estimate.getByText(/[\d,]+ records on the meter Audience: /).waitFor()
  await check('audience-builder')
  // Each button says what it adds to: the event of condition 1, or who is included or excluded.
  const adds = page.getByRole('button', { name: /^Add a condition/ })
  expect(await adds.allTextContents()).toEqual([
    'Add a condition on the event',
    'Add a condition to include',
    'Add a condition to exclude',
  ])
  await button(page, 'Add a condition to exclude').click()
  await button(page, 'Remove exclusion 1').click()
  await button(page, 'Add a condition to include').click()
  await page
    .getByRole('combobox', { name: /^Condition/ })
    .nth(1)
    .selectOption('Profile')
  const second = page.getByRole('group', { name: 'condition 2', exact: true })
  await second.getByLabel('Value', { exact: true }).fill('director')
  await button(page, 'Remove condition 1').click()
  await members.getByText(/members?$/).waitFor()
  await page.getByLabel('Start with').selectOption('Checkout visitors')
  await button(page, 'Create audience').click()
  await page.getByRole('heading', { name: 'Checkout visitors', level: 1 }).waitFor()
  await page.locator('table.data .badge', { hasText: 'completed' }).waitFor({ timeout: 150_000 })
  await check('audience')
  // Files are charged, so their rows and price come before they are created.
  await button(page, 'Create files…').click()
  const question = page.getByRole('dialog', { name: 'Create files of “Checkout visitors”?' })
  await question.getByText(/^The CSV files have [\d,]+ rows\.$/).waitFor()
  await question.getByText(/[\d,]+ records on the meter Audience: /).waitFor()
  await check('create-files')
  await button(page, 'Cancel').click()
  expect(await chargedRecords()).toBe(0)
  await button(page, 'Create files…').click()
  await button(page, 'Create files').click()
  await page
    .getByText(/^([\d,]+) rows\. \1 records charged on the meter Audience\.$/)
    .waitFor({ timeout: 60_000 })
  expect(await chargedRecords()).toBeGreaterThan(0)
  await show(inProject('audiences'), 'Audiences')
  await page.getByRole('link', { name: 'Checkout visitors' }).waitFor()
  await check('audiences')
})

test('a filter of the visitors leads to an audience of the same people, where an audience can have it', async () => {
  const { service } = dashboard
  const { project_id } = service.demo
  const link = page.getByRole('link', { name: 'Create an audience from this filter' })
  await show(inProject('people?filter=country:eq:DE'), 'Visitors')
  await rows('Visitors').first().waitFor()
  expect(await link.count()).toBe(0)
  const filter = 'page_path:like:/checkout%'
  await show(inProject(`people?filter=${encodeURIComponent(filter)}`), 'Visitors')
  await rows('Visitors').first().waitFor()
  await check('visitors-with-audience')
  await link.click()
  await page.getByRole('heading', { name: 'New audience', level: 1 }).waitFor()
  const members = page.locator('.estimate .figure')
  await members.getByText(/^[\d,]+ members$/).waitFor()
  await check('audience-of-filter')
  // As the events of these people say: of today and the 29 days before it.
  const midnight = Math.floor(Date.now() / 86_400_000) * 86_400_000
  const window = `start_ms=${midnight - 29 * 86_400_000}&end_ms=${Date.now()}`
  const answer = await ask(
    service,
    `/api/v3/events/resolution_hem/visitors?project_id=${project_id}&kind=buyers&limit=1000&${window}` +
      `&filter=${encodeURIComponent(`${filter},is_bot:eq:false`)}`,
  )
  const { count } = await answer.json()
  expect(count).toBeGreaterThan(5)
  expect(await members.innerText()).toBe(`${count} members`)
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('Checkout of the filter')
  await button(page, 'Create audience').click()
  await page.getByRole('heading', { name: 'Checkout of the filter', level: 1 }).waitFor()
})

test('an integration is checked, an export sends to it, and its run says what became of each record and, where it failed, what to do', async () => {
  await show(inProject('integrations'), 'Integrations')
  await button(page, 'New integration').first().click()
  await page.getByLabel('Type').selectOption('Webhook')
  await page.getByLabel('Name', { exact: true }).fill('Our own')
  await page.getByLabel('Address').fill(`${receiver.url}/export`)
  await button(page, 'Generate secret').click()
  const secret = await page.getByLabel('Signing secret').inputValue()
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  await button(page, 'Copy the secret').click()
  expect(await copied(page)).toBe(secret)
  await button(page, 'Create integration').click()
  await button(page, 'Check Our own').click()
  await page.locator('.badge', { hasText: 'works' }).waitFor()
  await check('integrations')

  await show(inProject('exports'), 'Exports')
  await button(page, 'New export').first().click()
  await page.getByLabel('Name', { exact: true }).fill('To ourselves')
  await page.getByLabel('Audience or list').selectOption('Audience: Checkout visitors')
  await page.getByLabel('Integration', { exact: true }).selectOption('Our own')
  await button(page, 'Create export').click()
  await page.getByRole('heading', { name: 'To ourselves', level: 1 }).waitFor()
  const exportUrl = page.url()
  await show(inProject('exports'), 'Exports')
  const sent = page.locator('table.data').getByRole('link', { name: 'Checkout visitors' })
  expect(await sent.getAttribute('href')).toMatch(/\/audiences\/[\w-]+$/)
  await page.goto(exportUrl)
  await button(page, 'Run now…').click()
  await page
    .locator('dialog')
    .getByText(/[\d,]+ records on the meter Audience: /)
    .waitFor()
  await check('run')
  // A destination that limits requests lets the run wait.
  receiver.on('/export', (response) => response.writeHead(429, { 'retry-after': '3600' }).end())
  await button(page, 'Start the run').click()
  await page.locator('.badge', { hasText: 'waiting' }).waitFor({ timeout: 150_000 })
  const result = page.getByRole('region', { name: 'Result of the run' })
  await result
    .getByText(
      /^The destination accepts no records at the moment.* The run continues by itself at /,
    )
    .waitFor()
  await check('waiting-run')
  await button(page, 'Cancel the run').click()
  await page.locator('.badge', { hasText: 'waiting' }).waitFor({ state: 'detached' })
  receiver.on('/export', (response) => response.writeHead(410).end())
  await button(page, 'Run now…').click()
  await button(page, 'Start the run').click()
  await page.getByText('answered 410').first().waitFor({ timeout: 150_000 })
  await result.getByText(/^0 sent · [1-9]\d* failed/).waitFor()
  // How many people the demo has depends on the time of day.
  expect(await rows('Runs').first().innerText()).toMatch(
    /answered 410[\s\S]*\s([1-9]\d*)\s+0\s+\1\s+0\s+0$/,
  )
  await page.getByText('Fix the cause in the reason, then retry.').first().waitFor()
  await result.getByText(/^[\d,]+ records charged\.$/).waitFor()
  await check('failed-run')
  expect(await cutOff()).toEqual([])
  receiver.on('/export', (response) => response.end('thanks'))
  await button(page, 'Retry failed records…').click()
  await page
    .getByRole('dialog')
    .getByText(/[\d,]+ records on the meter Audience: /)
    .waitFor()
  await check('retry')
  await button(page, 'Start the retry').click()
  await page.locator('.badge', { hasText: 'completed' }).waitFor({ timeout: 150_000 })
  await page.getByText('None.').waitFor()
  await result.getByText(/^[1-9]\d* sent · 0 failed/).waitFor()
  await check('export')
})

test('an audience is sent from its page: what is sent and its price come before the run', async () => {
  await show(inProject('audiences'), 'Audiences')
  await page.getByRole('link', { name: 'Checkout visitors' }).click()
  await page
    .getByText(/^People who have .* in the last \d+ days/)
    .first()
    .waitFor()
  const { project_id, api_key, api_secret } = dashboard.service.demo
  const made = await fetch(at('/api/v1/integrations'), {
    method: 'POST',
    headers: {
      'x-api-key': api_key,
      'x-api-secret': api_secret,
      'content-type': 'application/json',
    },
    body: JSON.stringify({
      project_id,
      type: 'hubspot',
      name: 'Our CRM',
      settings: {},
      secrets: { access_token: 'pat-eu1-token' },
    }),
  })
  expect(made.status, await made.clone().text()).toBe(201)
  await button(page, 'Send to…').click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Integration').selectOption('Our CRM')
  const firstName = dialog.getByRole('row', { name: 'firstname First name' })
  await firstName.waitFor()
  // The rows have the fields of the destination, and are masked.
  const sample = dialog.getByRole('table', { name: 'Sample, masked' })
  expect(await sample.locator('thead').innerText()).toMatch(/^email\s+firstname\s+lastname/)
  expect(await sample.locator('tbody tr').count()).toBe(5)
  await check('send-to-crm')
  await dialog.getByLabel('Integration').selectOption('Our own')
  await dialog.getByText('Each record has all fields that are known.').waitFor()
  await dialog.getByLabel('Format').selectOption('hem')
  await dialog.getByText('Each record is a hashed e-mail address.').waitFor()
  await dialog.getByText('Rows like these').waitFor()
  await check('send-to')
  await button(page, 'Continue to the run').click()
  await page.getByRole('heading', { name: 'Checkout visitors to Our own', level: 1 }).waitFor()
  await page.getByRole('dialog', { name: 'Run “Checkout visitors to Our own” now?' }).waitFor()
  await dialog
    .getByText(/\$[\d.]+/)
    .first()
    .waitFor()
  await button(page, 'Start the run').click()
  await page.locator('.badge', { hasText: 'completed' }).waitFor({ timeout: 150_000 })
})

test('a webhook is made, its secret shown once, tested and replayed', async () => {
  await show(inProject('webhooks'), 'Webhooks')
  await button(page, 'New webhook').first().click()
  await page.getByLabel('Address').fill(`${receiver.url}/500`)
  await button(page, 'Create webhook').click()
  await page.getByText('whsec_').waitFor()
  await button(page, 'I have copied it').click()
  await button(page, 'Send a test').click()
  await expect
    .poll(
      async () => {
        await button(page, 'Refresh').click()
        await loaded()
        return rows('Deliveries').first().innerText()
      },
      { timeout: 60_000, interval: 1_000 },
    )
    .toMatch(/Test[\s\S]*failed/)
  await check('webhooks')
  await rows('Deliveries').first().getByRole('button').click()
  await button(page, 'Replay').click()
  await page.locator('dialog').waitFor({ state: 'detached' })
  await expect
    .poll(() => receiver.received.filter(({ path }) => path === '/500').length)
    .toBeGreaterThan(1)
})

test('requests are listed with their charges, filtered in the address, and lead to their key', async () => {
  const { service } = dashboard
  const { project_id, organization_id } = service.demo
  expect(
    (await ask(service, `/api/v3/events/web_event?project_id=${project_id}&limit=3&start_ms=0`))
      .status,
  ).toBe(200)
  expect((await ask(service, '/api/v3/events/web_event?limit=0')).status).toBe(400)
  const requests = at(
    `/${organization_id}/developers/requests?route=/v3/events/web_event&status=4xx`,
  )
  await expect
    .poll(
      async () => {
        await show(requests, 'Requests')
        return rows('Requests').count()
      },
      { timeout: 30_000 },
    )
    .toBe(1)
  await page.getByLabel('Status').selectOption('any')
  await page.getByLabel('Charge').selectOption('charged only')
  expect(new URL(page.url()).searchParams.get('charged')).toBe('true')
  // The charge is listed at once, the request with it when the log is written.
  await expect
    .poll(
      async () => {
        await page.reload()
        await loaded()
        return rows('Requests').first().innerText()
      },
      { timeout: 30_000, interval: 1_000 },
    )
    .toContain('200')
  await check('requests')
  await rows('Requests').first().getByRole('button').click()
  const dialog = page.getByRole('dialog', { name: 'Request' })
  await dialog.getByText('records').waitFor()
  // The charge is shown before the request is repeated.
  await dialog.getByText(/^curl 'http.+web_event/).waitFor()
  await button(page, 'Replay…').click()
  await dialog
    .getByText(/It is charged again. It was charged 3 records on the meter Events/)
    .waitFor()
  await check('request')
  await button(page, 'Replay it').click()
  await dialog.getByText(/ms, 3 records charged: \$0\.00\.$/).waitFor()
  await page.keyboard.press('Escape')
  // Identities have a price: the explorer shows what this one request cost.
  await show(
    at(
      `/${organization_id}/developers/explorer?operation=listEventsWithHem&project_id=${project_id}&limit=200&start_ms=0`,
    ),
    'API explorer',
  )
  const billed = page.waitForResponse((response) => response.url().includes('/resolution_hem'))
  await button(page, 'Send, billed').click()
  const request_id = (await billed).headers()['x-footfall-request-id']!
  const charge = await ask(service, `/api/v1/requests?charged=true&request_id=${request_id}`)
  const { records, amount_micros } = (await charge.json()).requests[0]
  expect(amount_micros).toBeGreaterThan(10_000)
  const dollars = (amount_micros / 1e6).toFixed(2)
  await page.getByText(`ms, ${records} records charged: $${dollars}.`).waitFor()
  await check('explorer')
})

test('people: the match rate is free, profiles are charged, and the identity page explains each link', async () => {
  await show(inProject('people'), 'Visitors')
  await rows('Visitors').first().waitFor()
  await page.getByText(/ of 10,000 free records used this month\./).waitFor()
  await check('visitors')
  await rows('Visitors').first().getByRole('button').click()
  await page.locator('.story li').first().waitFor()
  // Each session has its source by the name that the overview shows.
  const named =
    /(direct|from (Google|Bing|Instagram|Facebook|Newsletter|pottery-weekly\.example) · .+)$/
  await expect
    .poll(() => page.locator('.session .meta').allTextContents(), { timeout: 30_000 })
    .toSatisfy((texts: string[]) => texts.length > 0 && texts.every((text) => named.test(text)))
  await check('visitor')
  await button(page, '← All visitors').click()
  await rows('Visitors').first().waitFor()
  await page.getByRole('tab', { name: 'People' }).click()
  await page.getByText('Match rate', { exact: true }).last().waitFor()
  const asked = page.waitForRequest((request) =>
    request.url().includes('/resolution_full_profile/visitors'),
  )
  await button(page, 'Show people').click()
  await rows('People').first().waitFor()
  // A visitor without a profile would be charged and show a row of dashes.
  const { searchParams } = new URL((await asked).url())
  expect(searchParams.get('filter')).toContain('has_profile:eq:true')
  await check('people')
  await rows('People').first().getByRole('button').click()
  await check('person')
  await button(page, 'Evidence for this browser').click()
  await page.locator('dialog').waitFor({ state: 'detached' })
  await button(page, 'Look up').click()
  await page.locator('.badge', { hasText: 'counts' }).waitFor()
  await check('identity')
  await page.getByRole('tab', { name: 'Match rate' }).click()
  await rows('Match rate').first().waitFor()
  await check('match-rate')
  const { organization_id } = dashboard.service.demo
  await show(at(`/${organization_id}/settings/audit`), 'Audit log')
  await page.getByText('viewed the identities').first().waitFor()
})
