import { randomUUID } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { customEvent, postBeacon } from '../harness/api.ts'
import { waitFor } from '../harness/service.ts'
import { focused, useDashboard } from './dashboard.ts'

const dashboard = useDashboard()
const { at, open, signIn } = dashboard

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })
const copied = (page: Page): Promise<string> => page.evaluate('navigator.clipboard.readText()')

describe('from the first sign-in to a key that reads its first event', () => {
  /** Somebody's site: whatever the dashboard said to paste stands in its head. */
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

  test('a wrong password is said so, and the right one leads to the projects', async () => {
    await page.goto(at('/'))
    await page.getByLabel('E-mail', { exact: true }).fill(dashboard.service.demo.admin_email)
    await page.getByLabel('Password', { exact: true }).fill('not the password')
    await button(page, 'Sign in').click()
    expect(await page.getByRole('alert').textContent()).toBe(
      'The e-mail address or the password is not right.',
    )
    await signIn(page)
    await page.getByRole('link', { name: 'Demo shop' }).waitFor()
    const { organization_id } = dashboard.service.demo
    expect(new URL(page.url()).pathname).toBe(`/${organization_id}/projects`)
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
    expect(await page.locator('dialog [aria-invalid=true]').count()).toBe(1)
    await origins.fill(siteUrl)
    await button(page, 'Create pixel').click()
    await heading(page, 'Example pixel').waitFor()
    await page.getByText('Waiting for the first event').waitFor()
  })

  test('the pasted snippet sends, and the light turns on by itself', async () => {
    await button(page, 'Copy the snippet').click()
    snippet = await copied(page)
    expect(snippet).toContain(`${dashboard.service.url}/p/`)
    const visitor = await open()
    await visitor.goto(siteUrl)
    await page.getByText('Working: events are coming in').waitFor()
    await page.getByText('1 event in the last 24 hours').waitFor()
    await visitor.context().close()
  })

  test('an event that was turned away is shown with the reason', async () => {
    const pixelId = page.url().split('/').at(-1)!
    const event = customEvent()
    const beacon = {
      pixel_id: pixelId,
      sent_at: new Date().toISOString(),
      events: [{ ...event, event_data: { ...event.event_data, name: 7 } }],
    }
    const answer = await postBeacon(dashboard.service.url, beacon, { origin: siteUrl })
    expect(answer.status).toBe(200)
    const notice = page.locator('.notice', { hasText: '1 event turned away' })
    expect(await notice.textContent()).toContain('/event_data/name')
  })

  test('a key of the project is shown once with its secret, and reads that event', async () => {
    const projectId = page.url().split('/').at(-3)!
    const pixelId = page.url().split('/').at(-1)!
    await page.getByRole('navigation').getByRole('link', { name: 'API keys' }).click()
    await button(page, 'New key').click()
    await page.getByLabel('Name', { exact: true }).fill('Warehouse import')
    await page.getByLabel('Scope').selectOption('Only Example shop')
    await button(page, 'Create key').click()
    await heading(page, '“Warehouse import” is ready').waitFor()
    expect(await focused(page)).toBe('“Warehouse import” is ready')

    await button(page, 'Copy the key').click()
    const key = await copied(page)
    await button(page, 'Copy the secret').click()
    const secret = await copied(page)
    const answer = await fetch(at('/api/v3/events/web_event'), {
      headers: { 'x-api-key': key, 'x-api-secret': secret },
    })
    const { rows } = (await answer.json()) as { rows: Record<string, unknown>[] }
    expect(rows).toEqual([
      expect.objectContaining({ event_type: 'page_view', project_id: projectId, pixel_id: pixelId }),
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
})

describe('two people at once', () => {
  test('what somebody else changed meanwhile is shown, and overwritten only on purpose', async () => {
    const [mine, theirs] = [await open(), await open()]
    const { organization_id, project_id, pixel_id } = dashboard.service.demo
    for (const page of [mine, theirs]) {
      await signIn(page)
      await page.goto(at(`/${organization_id}/projects/${project_id}/pixels/${pixel_id}`))
      await heading(page, 'Settings').waitFor()
    }
    await theirs.getByLabel('Consent').selectOption('hold')
    await button(theirs, 'Save settings').click()
    await theirs.getByText('Settings saved').waitFor()

    await mine.getByLabel('Drop what bots send').check()
    await button(mine, 'Save settings').click()
    const notice = mine.getByRole('alert')
    expect(await notice.textContent()).toContain('Changed by someone else meanwhile.')
    expect(await mine.locator('.meanwhile').allTextContents()).toEqual([
      'Changed meanwhile by someone else to “Hold until granted: nothing leaves the page”',
    ])
    const stored = async () => {
      await theirs.reload()
      await heading(theirs, 'Settings').waitFor()
      return {
        consent: await theirs.getByLabel('Consent').inputValue(),
        dropsBots: await theirs.getByLabel('Drop what bots send').isChecked(),
      }
    }
    expect(await stored()).toEqual({ consent: 'hold', dropsBots: false })

    await button(mine, 'Use theirs').click()
    expect(await mine.getByLabel('Consent').inputValue()).toBe('hold')
    await mine.getByLabel('Drop what bots send').check()
    await button(mine, 'Save settings').click()
    await mine.getByText('Settings saved').waitFor()
    expect(await stored()).toEqual({ consent: 'hold', dropsBots: true })

    await theirs.getByLabel('Consent').selectOption('cookieless')
    await button(theirs, 'Save settings').click()
    await theirs.getByText('Settings saved').waitFor()
    await mine.getByLabel('Consent').selectOption('granted')
    await button(mine, 'Save settings').click()
    await button(mine, 'Save mine anyway').click()
    await mine.getByText('Settings saved').waitFor()
    expect(await stored()).toEqual({ consent: 'granted', dropsBots: true })
    await mine.context().close()
    await theirs.context().close()
  })
})

describe('people', () => {
  test('an invited member chooses a password and sees only their project, without the means to change it', async () => {
    const [owner, guest] = [await open(), await open()]
    await signIn(owner)
    await owner.getByRole('link', { name: 'Members' }).click()
    await button(owner, 'Invite').click()
    const email = `${randomUUID()}@example.com`
    await owner.getByLabel('E-mail', { exact: true }).fill(email)
    await owner.getByLabel('Demo shop').selectOption('member')
    await button(owner, 'Make the invitation').click()
    await button(owner, 'Copy the invitation link').click()
    const lostLink = await copied(owner)
    await button(owner, 'Done').click()
    await button(owner, `New link for ${email}`).click()
    await button(owner, 'Copy the invitation link').click()
    const link = await copied(owner)
    await button(owner, 'Done').click()

    await guest.goto(lostLink)
    await heading(guest, 'This invitation is no longer good').waitFor()
    await guest.goto(link)
    await heading(guest, 'Join Demo organization').waitFor()
    await guest.getByLabel('Your name', { exact: true }).fill('Grace Guest')
    await guest.getByLabel('Choose a password').fill('too short')
    await button(guest, 'Join').click()
    expect(await guest.getByLabel('Choose a password').getAttribute('aria-invalid')).toBe('true')
    await guest.getByLabel('Choose a password').fill('long enough by far')
    await button(guest, 'Join').click()
    await heading(guest, 'Projects').waitFor()
    await guest.locator('.rows li').first().waitFor()
    expect(await guest.locator('.rows .name').allTextContents()).toEqual(['Demo shop'])
    expect(await button(guest, 'New project').count()).toBe(0)
    expect(await guest.getByRole('link', { name: 'Audit log' }).count()).toBe(0)

    await guest.goto(link)
    await heading(guest, 'This invitation is no longer good').waitFor()

    const { organization_id, project_id, pixel_id } = dashboard.service.demo
    for (const [path, title] of [
      [`projects/${project_id}`, 'Demo shop'],
      [`projects/${project_id}/pixels/${pixel_id}`, 'Demo shop'],
      ['members', 'Members'],
      ['settings/api-keys', 'API keys'],
      ['settings/organization', 'Organization'],
    ]) {
      await guest.goto(at(`/${organization_id}/${path}`))
      await guest.getByRole('heading', { name: title!, level: 1 }).waitFor()
      await expect.poll(() => guest.locator('.loading').count()).toBe(0)
      expect(await guest.getByRole('alert').count(), path).toBe(0)
      expect(await guest.locator('main').getByRole('button').allTextContents(), path).toEqual(
        path!.includes('pixels') ? ['Copy the snippet'] : [],
      )
    }

    await owner.reload()
    await button(owner, `Remove ${email}`).click()
    await button(owner, 'Remove').click()
    await button(owner, `Remove ${email}`).waitFor({ state: 'detached' })
    await waitFor('the removed member to be signed out', async () => {
      await guest.goto(at('/'))
      return (await guest.getByRole('heading', { level: 1 }).textContent()) === 'Sign in'
    })
    await owner.context().close()
    await guest.context().close()
  })

  test('deleting a project asks what becomes of its events', async () => {
    const page = await open()
    await signIn(page)
    await button(page, 'New project').click()
    await page.getByLabel('Name', { exact: true }).fill('Short-lived project')
    await button(page, 'Create project').click()
    await heading(page, 'Short-lived project').waitFor()
    await button(page, 'Delete').click()
    await button(page, 'Delete project').click()
    await page.locator('dialog .fault').waitFor()
    await page.getByLabel('Delete them').check()
    await button(page, 'Delete project').click()
    await heading(page, 'Projects').waitFor()
    await page.getByRole('link', { name: 'Demo shop' }).waitFor()
    expect(await page.getByRole('link', { name: 'Short-lived project' }).count()).toBe(0)
    await page.context().close()
  })

  test('who signs out, or comes without a session, is shown sign-in, and then the page they came for', async () => {
    const page = await open()
    const { organization_id } = dashboard.service.demo
    await signIn(page)
    await button(page, 'Sign out').click()
    await heading(page, 'Sign in').waitFor()
    await page.goBack()
    await heading(page, 'Sign in').waitFor()
    await page.goto(at(`/${organization_id}/settings/audit`))
    const { admin_email, admin_password } = dashboard.service.demo
    await page.getByLabel('E-mail', { exact: true }).fill(admin_email)
    await page.getByLabel('Password', { exact: true }).fill(admin_password)
    await page.getByLabel('Password', { exact: true }).press('Enter')
    await heading(page, 'Audit log').waitFor()
    await page.context().close()
  })
})
