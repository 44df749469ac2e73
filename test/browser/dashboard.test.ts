import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { beaconOf, customEvent, postBeacon } from '../harness/api.ts'
import { waitFor } from '../harness/service.ts'
import { button, copied, focused, heading, useDashboard, violations } from './dashboard.ts'

const dashboard = useDashboard()
const { at, open } = dashboard

describe('from the first sign-in to a key that reads its first event', () => {
  /** A site with the dashboard's snippet in its head. */
  let site: Server
  let snippet = ''
  let siteUrl: string
  let page: Page

  beforeAll(async () => {
    site = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(
        `<!doctype html><html lang="en"><head><title>A site</title>${snippet}</head><body style="height: 9000px">Hi</body></html>`,
      )
    })
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
    siteUrl = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
    page = await open()
  })
  afterAll(() => site?.close())

  /** Sends an event to the pixel whose page is open, from a page of this origin. */
  const sendFrom = (origin: string) =>
    postBeacon(
      dashboard.service.url,
      {
        pixel_id: page.url().split('/').at(-1)!,
        sent_at: new Date().toISOString(),
        events: [customEvent()],
      },
      { origin },
    )

  test('a wrong password is said so, and the right one to the overview of the only project', async () => {
    await page.goto(at('/'))
    await page.getByLabel('E-mail', { exact: true }).fill(dashboard.service.demo.admin_email)
    await page.getByLabel('Password', { exact: true }).fill('not the password')
    await button(page, 'Sign in').click()
    expect(await page.getByRole('alert').textContent()).toBe(
      'The e-mail address or the password is wrong.',
    )
    expect(await violations(page)).toEqual([])
    const { organization_id, project_id, admin_password } = dashboard.service.demo
    await page.getByLabel('Password', { exact: true }).fill(admin_password)
    await button(page, 'Sign in').click()
    await heading(page, 'Overview').waitFor()
    expect(new URL(page.url()).pathname).toBe(`/${organization_id}/projects/${project_id}/overview`)
    await page.getByRole('navigation', { name: 'Dashboard' }).locator('summary').click()
    await page.getByRole('link', { name: 'Projects', exact: true }).click()
    await page.getByRole('link', { name: 'Demo shop' }).waitFor()
  })

  test('a project is created, and its page has the focus', async () => {
    await button(page, 'New project').click()
    await button(page, 'Create project').click()
    const name = page.getByLabel('Name', { exact: true })
    expect(await name.getAttribute('aria-invalid')).toBe('true')
    await name.fill('Example shop')
    await name.press('Enter')
    await heading(page, 'Example shop').waitFor()
    expect(await focused(page)).toBe('Example shop')
    expect(await page.title()).toBe('Example shop · Footfall')
  })

  test('a wrong origin is said beside its field; with a right one there is a pixel', async () => {
    await button(page, 'New pixel').click()
    await page.getByLabel('Name', { exact: true }).fill('Example pixel')
    const origins = page.getByLabel('Allowed origins')
    await origins.fill('example.com/path')
    await button(page, 'Create pixel').click()
    await page.locator('dialog .fault').waitFor()
    expect(await origins.getAttribute('aria-invalid')).toBe('true')
    await expect.poll(() => page.locator('dialog [aria-invalid=true]').count()).toBe(1)
    expect(await violations(page)).toEqual([])
    await origins.fill(siteUrl)
    await button(page, 'Create pixel').click()
    await heading(page, 'Example pixel').waitFor()
    await page.getByText('Waiting for the first event').waitFor()
  })

  test('an unreadable request, which anybody can send, is mentioned without turning the light red', async () => {
    const answer = await fetch(`${dashboard.service.url}/e`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: siteUrl },
      body: `{"pixel_id":"${page.url().split('/').at(-1)}",`,
    })
    expect(answer.status).toBe(400)
    await page.getByText(/A request could not be read .+: The body is not valid JSON/).waitFor()
    expect(await page.locator('.activity.waiting').count()).toBe(1)
  })

  test('beacons that are refused before any event turn the light red, with the reason', async () => {
    expect((await sendFrom('https://elsewhere.example')).status).toBe(403)
    await page.getByText('Events are refused: origin not allowed').waitFor()
    await expect.poll(() => page.locator('.activity.refused').count()).toBe(1)
    expect(await violations(page)).toEqual([])
  })

  test('the pasted snippet sends, and the light turns on by itself', async () => {
    await button(page, 'Copy the snippet').click()
    snippet = await copied(page)
    expect(snippet).toContain(`${dashboard.service.url}/p/`)
    const visitor = await open()
    await visitor.goto(siteUrl)
    await page.getByText('Working: events arrive').waitFor()
    await page.getByText('1 event in the last 24 hours').waitFor()
    await visitor.context().close()
  })

  test('a rejected event is shown with the reason', async () => {
    const pixelId = page.url().split('/').at(-1)!
    const event = customEvent()
    const beacon = {
      pixel_id: pixelId,
      sent_at: new Date().toISOString(),
      events: [{ ...event, event_data: { ...event.event_data, name: 7 } }],
    }
    const answer = await postBeacon(dashboard.service.url, beacon, { origin: siteUrl })
    expect(answer.status).toBe(200)
    const notice = page.locator('.notice', { hasText: '1 event rejected' })
    expect(await notice.textContent()).toContain('Event name ')
    expect(await violations(page)).toEqual([])
  })

  test('a beacon of a foreign site is a notice that names it, and no fault of a pixel that works', async () => {
    expect((await sendFrom('https://copy.example')).status).toBe(403)
    const notice = page.locator('.notice', { hasText: 'A beacon of another site was refused' })
    await notice.getByText('https://copy.example').waitFor()
    await page.getByText('Working: events arrive').waitFor()
    expect(await page.locator('.activity.lit').count()).toBe(1)
    expect(await violations(page)).toEqual([])
    expect((await sendFrom(siteUrl)).status).toBe(200)
    // The list of projects says the same.
    const pixelUrl = page.url()
    await page.goto(at(`/${dashboard.service.demo.organization_id}/projects`))
    const project = page.locator('.rows li', { hasText: 'Example shop' })
    await project.locator('.glance.lit', { hasText: 'Events arrive' }).waitFor()
    await page.goto(pixelUrl)
    await heading(page, 'Example pixel').waitFor()
  })

  test('a key of the project is shown once with its secret, and reads that event', async () => {
    const projectId = page.url().split('/').at(-3)!
    const pixelId = page.url().split('/').at(-1)!
    await page.getByRole('navigation', { name: 'Dashboard' }).locator('summary').click()
    await page.getByRole('link', { name: 'API keys', exact: true }).click()
    await button(page, 'New key').click()
    await page.getByLabel('Name', { exact: true }).fill('Warehouse import')
    await page.getByLabel('Scope').selectOption('Only Example shop')
    expect(await page.getByRole('radio', { name: /^Read\s?Events/ }).isChecked()).toBe(true)
    await button(page, 'Create key').click()
    await heading(page, '“Warehouse import” is ready').waitFor()
    expect(await focused(page)).toBe('“Warehouse import” is ready')
    expect(await violations(page)).toEqual([])

    await button(page, 'Copy the key').click()
    const key = await copied(page)
    await button(page, 'Copy the secret').click()
    const secret = await copied(page)
    const answer = await fetch(at('/api/v3/events/web_event'), {
      headers: { 'x-api-key': key, 'x-api-secret': secret },
    })
    const { rows } = (await answer.json()) as { rows: Record<string, unknown>[] }
    expect(rows).toEqual([
      expect.objectContaining({ event_type: 'custom' }),
      expect.objectContaining({
        event_type: 'page_view',
        project_id: projectId,
        pixel_id: pixelId,
      }),
    ])
    await button(page, 'Copy the command').click()
    const command = await copied(page)
    for (const part of [key, secret, dashboard.service.url]) expect(command).toContain(part)

    await page.reload()
    const row = page.locator('.rows li', { hasText: 'Warehouse import' })
    expect(await row.textContent()).toContain('Project: Example shop')
    expect(await page.content()).not.toContain(secret)
    expect(await page.content()).not.toContain(key)
  })

  test('revoking asks first, and then the key is refused', async () => {
    await button(page, 'New key').click()
    await page.getByLabel('Name', { exact: true }).fill('Short-lived')
    await button(page, 'Create key').click()
    await button(page, 'Copy the key').click()
    const key = await copied(page)
    await button(page, 'Copy the secret').click()
    const headers = { 'x-api-key': key, 'x-api-secret': await copied(page) }
    const read = () => fetch(at('/api/v3/events/web_event'), { headers })
    expect((await read()).status).toBe(200)

    await button(page, 'Revoke Short-lived').click()
    await button(page, 'Cancel').click()
    expect((await read()).status).toBe(200)
    expect(await focused(page)).toBe('Revoke')

    await button(page, 'Revoke Short-lived').click()
    await button(page, 'Revoke key').click()
    await button(page, 'Revoke Short-lived').waitFor({ state: 'detached' })
    await waitFor('the key to be refused', async () => (await read()).status === 401, 1_500)
  })

  test('a pixel for Europe starts without ids, and its page says who consented', async () => {
    const { organization_id, project_id } = dashboard.service.demo
    await page.goto(at(`/${organization_id}/projects/${project_id}`))
    await button(page, 'New pixel').click()
    await page.getByLabel('Name', { exact: true }).fill('Europe')
    // The browser of the tests is elsewhere.
    expect(await page.getByLabel('Visitors are in Europe').isChecked()).toBe(false)
    await page.getByLabel('Visitors are in Europe').check()
    await button(page, 'Create pixel').click()
    await page
      .getByText('Cookieless: events without a visitor id until your banner calls')
      .waitFor()
    const pixel_id = page.url().split('/').at(-1)!
    // As the pixel sends it: an id only with consent.
    const send = (cookie_id: string | null = null) =>
      postBeacon(
        dashboard.service.url,
        beaconOf(dashboard.service, [customEvent()], {
          pixel_id,
          cookie_id,
          ...(cookie_id && { consent: true }),
        }),
      )
    expect((await send()).status).toBe(200)
    await page.getByText('No visitor of the last 24 hours has consented.').waitFor()
    expect((await send(crypto.randomUUID())).status).toBe(200)
    await page
      .getByText('The banner works. In the last 24 hours: 1 visitor with consent and 1 without')
      .waitFor()
    expect(await violations(page)).toEqual([])
  })

  test('an address makes a project with a pixel, and its first event leads to figures and a goal', async () => {
    await page.goto(at(`/${dashboard.service.demo.organization_id}/projects`))
    await button(page, 'New project').click()
    await page.getByLabel('Name', { exact: true }).fill('Second shop')
    const address = page.getByLabel('Address of the site (optional)')
    await address.fill('https://')
    await button(page, 'Create project').click()
    await expect.poll(() => address.getAttribute('aria-invalid')).toBe('true')
    expect(await violations(page)).toEqual([])
    await address.fill('shop.example')
    await button(page, 'Create project').click()
    await heading(page, 'Second shop').waitFor()
    await page.getByText('Waiting for the first event').waitFor()

    const pixel_id = page.url().split('/').at(-1)!
    const event = customEvent()
    event.event_data.name = 'signed_up'
    const beacon = beaconOf(dashboard.service, [event], { pixel_id })
    const send = (origin: string) => postBeacon(dashboard.service.url, beacon, { origin })
    for (const origin of ['https://shop.example', 'https://www.shop.example'])
      expect((await send(origin)).status).toBe(200)
    await page.getByText('Working: events arrive').waitFor()
    await page.getByRole('link', { name: 'See the overview' }).waitFor()
    // Figures take some seconds.
    await expect
      .poll(
        async () => {
          await page.reload()
          await page.getByRole('link', { name: 'See the overview' }).waitFor()
          await page.waitForTimeout(500)
          return page.getByText('1 signed_up event: make it a goal').count()
        },
        { timeout: 120_000 },
      )
      .toBe(1)
    await page.getByRole('link', { name: 'make it a goal' }).click()
    await heading(page, 'New goal').waitFor()
    expect(await page.getByLabel('Event name').inputValue()).toBe('signed_up')
    await page.getByLabel('Name', { exact: true }).fill('Signed up')
    await button(page, 'Save goal').click()
    await heading(page, 'New goal').waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /Signed up/ }).waitFor()
    expect(new URL(page.url()).search).toBe('')
  })
})
