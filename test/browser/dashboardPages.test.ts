import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import {
  expectAccessible,
  focused,
  heading,
  keepScreenshots,
  sticksOut,
  tabTrouble,
  useDashboard,
  violations,
} from './dashboard.ts'
import { loaded, pagesOf, show as showPage } from './pages.ts'

const scriptBytesMax = 40 * 1024

const dashboard = useDashboard()
const { at, open, signIn } = dashboard

const pages = () => pagesOf(dashboard.service.demo)
const show = (page: Page, path: string, heading: string) => showPage(page, at(path), heading)

test('every page, light on a wide screen and dark on a phone: axe-core finds nothing, nothing sticks out', async () => {
  const page = await open()
  await page.goto(at('/sign-in'))
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await expectAccessible(page, 'sign-in')
  await page.goto(at('/invitation/no-such-token'))
  await page
    .getByRole('heading', { name: 'This invitation is invalid, expired or was used' })
    .waitFor()
  await expectAccessible(page, 'invitation')
  await page.goto(at('/unsubscribe/no-such-token'))
  await page.getByRole('heading', { name: 'Unsubscribe from summaries?' }).waitFor()
  await expectAccessible(page, 'unsubscribe')
  await signIn(page)
  for (const [path, heading] of pages()) {
    await show(page, path, heading)
    await expectAccessible(page, path)
  }
  await page.context().close()
}, 600_000)

describe('dialogs', () => {
  const dialogs: [path: string, heading: string, opener: string][] = [
    ['projects', 'Projects', 'New project'],
    ['projects', 'Projects', 'Rename Demo shop'],
    ['projects', 'Projects', 'Delete Demo shop'],
    ['members', 'Members', 'Invite'],
    ['usage', 'Usage', 'Set a budget'],
    ['usage', 'Usage', 'Set a limit'],
    ['settings/api-keys', 'API keys', 'New key'],
    ['settings/api-keys', 'API keys', 'Revoke Demo key'],
    ['settings/organization', 'Organization', 'Delete…'],
  ]
  test('axe-core finds nothing in them; the focus goes in, Escape closes them, and it comes back', async () => {
    const page = await open({ viewport: { width: 360, height: 800 } })
    await signIn(page)
    for (const [path, heading, name] of dialogs) {
      await show(page, `/${dashboard.service.demo.organization_id}/${path}`, heading)
      const opener = page.getByRole('button', { name, exact: true })
      await opener.click()
      await loaded(page)
      expect(await page.evaluate(`document.activeElement.closest('dialog') !== null`), name).toBe(
        true,
      )
      expect(await violations(page), name).toEqual([])
      expect(await sticksOut(page), name).toEqual([])
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
      expect(await opener.evaluate((element) => element.matches(':focus')), name).toBe(true)
    }
    await page.context().close()
  })
})

test('the keyboard alone: the first Tab offers to skip to the content', async () => {
  const page = await open()
  await signIn(page)
  await page.reload()
  await page.locator('.rows').waitFor()
  await page.keyboard.press('Tab')
  expect(await focused(page)).toBe('Skip to the content')
  await page.keyboard.press('Enter')
  await page.keyboard.press('Tab')
  expect(await focused(page)).toBe('Help with Projects (opens a new tab)')
  await page.keyboard.press('Tab')
  expect(await focused(page)).toBe('New project')
  await page.keyboard.press('Enter')
  await page.keyboard.type('By keyboard')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'By keyboard', level: 1 }).waitFor()
  await page.context().close()
})

test('the keyboard alone: Tab reaches all there is to do on a page, and is seen wherever it is', async () => {
  const page = await open()
  await signIn(page)
  const walked = [
    'Overview',
    'Events',
    'New audience',
    'Requests',
    'API explorer',
    'Usage',
    'Privacy',
    'Your account',
  ]
  for (const [path, heading] of pages().filter(([, heading]) => walked.includes(heading))) {
    await show(page, path, heading)
    expect(await tabTrouble(page), path).toEqual([])
  }
  await page.context().close()
}, 600_000)

test('Activate is folded until a project uses it; a long name ends in an ellipsis', async () => {
  const { organization_id, api_key, api_secret } = dashboard.service.demo
  const post = async (path: string, body: object) => {
    const answer = await fetch(at(path), {
      method: 'POST',
      headers: {
        'x-api-key': api_key,
        'x-api-secret': api_secret,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    })
    expect(answer.status, await answer.clone().text()).toBeLessThan(300)
    return answer.json()
  }
  const name = `Shop${'-with-a-long-name'.repeat(8)}`
  const { project } = await post('/api/v1/project/create', { name })
  expect(project.uses_activation).toBe(false)
  const { project_id } = project
  const page = await open()
  await signIn(page)
  const goals = () => show(page, `/${organization_id}/projects/${project_id}/goals`, 'Goals')
  await goals()
  const nav = page.getByRole('navigation', { name: 'Project' })
  await nav.getByRole('link', { name: 'Journeys' }).waitFor()
  const audiences = nav.getByRole('link', { name: 'Audiences' })
  expect(await audiences.isVisible()).toBe(false)
  await nav.locator('summary', { hasText: 'Activate' }).click()
  await audiences.click()
  await heading(page, 'Audiences').waitFor()
  // The page stays in sight where the address leads to it.
  await page.reload()
  await audiences.waitFor()
  await goals()
  expect(await audiences.isVisible()).toBe(false)
  await post('/api/v1/lists', {
    project_id,
    name: 'Customers',
    kind: 'emails',
    items: ['ada@acme.example'],
  })
  await goals()
  await audiences.waitFor()
  expect(await nav.locator('summary', { hasText: 'Activate' }).count()).toBe(0)

  expect(await page.locator('.nav-title').getAttribute('title')).toBe(name)
  expect(
    await page.locator('.nav-title').evaluate((element) => getComputedStyle(element).textOverflow),
  ).toBe('ellipsis')
  await keepScreenshots(page, 'long-name')
  const cut = () =>
    page.evaluate(`[...document.querySelectorAll('.brand-project, h1, .rows .name')]
      .filter((element) => element.scrollWidth > element.clientWidth + 1)
      .map((element) => [element.className || element.localName, getComputedStyle(element).textOverflow])`)
  await page.setViewportSize({ width: 390, height: 844 })
  expect(await cut()).toEqual([['brand-project', 'ellipsis']])
  await show(page, `/${organization_id}/projects`, 'Projects')
  expect(await sticksOut(page)).toEqual([])
  await page.context().close()
})

describe('what is served', () => {
  test('every page is the same shell, under a policy that lets nothing inline or foreign run', async () => {
    const paths = [
      '/',
      '/sign-in',
      '/invitation/token',
      '/unsubscribe/token',
      ...pages().map(([path]) => path),
    ]
    const answers = await Promise.all(paths.map((path) => fetch(at(path))))
    for (const answer of answers) {
      expect(answer.status, answer.url).toBe(200)
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy':
          "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'same-origin',
        'cache-control': 'no-store',
      })
    }
    const shells = new Set(await Promise.all(answers.map((answer) => answer.text())))
    expect(shells.size).toBe(1)
    expect([...shells][0]).not.toMatch(/<style|style=|<script(?![^>]+src=)| on\w+=/)
    for (const path of ['/nobody', '/not-a-uuid/projects'])
      expect((await fetch(at(path))).status).toBe(404)
  })

  test('a first load of any page takes at most 40 KB of script, compressed and kept for ever', async () => {
    const page = await open()
    await signIn(page)
    const served = new Set<string>()
    for (const [path, heading] of pages()) {
      await show(page, path, heading)
      const scripts = (await page.evaluate(`performance.getEntriesByType('resource')
        .filter(({ name }) => name.endsWith('.js'))
        .map(({ name, encodedBodySize }) => [name, encodedBodySize])`)) as [string, number][]
      // What draws charts comes later, and only where there is one.
      const first = scripts.filter(([name]) => !/\/draw[A-Z]/.test(name))
      const bytes = first.reduce((sum, [, size]) => sum + size, 0)
      expect(bytes, path).toBeGreaterThan(0)
      expect(bytes, path).toBeLessThanOrEqual(scriptBytesMax)
      for (const [name] of first) served.add(name)
    }
    for (const name of served) {
      const { headers } = await fetch(name, { headers: { 'accept-encoding': 'br' } })
      expect(headers.get('content-encoding')).toBe('br')
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    }
    await page.context().close()
  })

  test('what the script needs to start is asked for with it, not after it', async () => {
    const shell = await (await fetch(at('/'))).text()
    const named = [...shell.matchAll(/(?:src|href)="([^"]+\.js)"/g)].map(([, path]) => path!)
    for (const path of named) {
      const script = await (await fetch(at(path))).text()
      const imported = [...script.matchAll(/(?:from|import)"\.\/([^"]+)"/g)].map(
        ([, name]) => name!,
      )
      for (const name of imported) expect(named).toContain(`/dashboard/assets/${name}`)
    }
  })
})

describe('keys that work everywhere', () => {
  test('Ctrl-K goes to any page by some letters of its name; ? says which keys there are, and g leads on', async () => {
    const page = await open()
    await signIn(page)
    const { organization_id, project_id } = dashboard.service.demo
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Page or project' }).fill('shop pixels')
    await page.getByRole('option', { name: 'Pixels and members Demo shop' }).waitFor()
    // Also by a subject that its name does not contain.
    await page.getByRole('combobox', { name: 'Page or project' }).fill('time zone')
    await page.getByRole('option', { name: 'Settings Demo shop' }).waitFor()
    await page.getByRole('combobox', { name: 'Page or project' }).fill('shop pixels')
    await page.getByRole('option', { name: 'Pixels and members Demo shop' }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Demo shop', level: 1 }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/${organization_id}/projects/${project_id}`)

    await page.keyboard.press('?')
    await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor()
    expect(await violations(page)).toEqual([])
    await page.getByLabel('Single-key shortcuts').uncheck()
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    // Switched off, single keys do nothing; Ctrl-K is none.
    await page.keyboard.press('?')
    await page.keyboard.press('Control+k')
    await page.getByRole('heading', { name: 'Go to…' }).waitFor()
    await page.keyboard.press('Escape')

    await page.evaluate('localStorage.clear()')
    await page.locator('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('g')
    await page.keyboard.press('u')
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor()
    await page.context().close()
  })
})
