/** Keys, organizations and passwords, on their pages. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'
import {
  button,
  copied,
  entered,
  heading,
  sticksOut,
  useDashboard,
  violations,
} from './dashboard.ts'

const dashboard = useDashboard()
const { at, open, signIn } = dashboard

const footfall = (...args: string[]) =>
  execFileSync(process.execPath, [join(packageRoot, 'dist/collector/cli.js'), ...args], {
    env: { ...process.env, FOOTFALL_DATA_DIR: dashboard.service.dataDir },
    encoding: 'utf8',
  })

/** Place of screenshots, for developers of these pages. */
const { SCREENSHOTS } = process.env

async function requireGood(page: Awaited<ReturnType<typeof open>>, name: string) {
  if (SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) })
  expect(await violations(page)).toEqual([])
  expect(await sticksOut(page)).toEqual([])
}

describe('a password', () => {
  test('is chosen anew by a link', async () => {
    const page = await open()
    await page.goto(at('/sign-in'))
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    await heading(page, 'Forgot your password?').waitFor()
    await requireGood(page, 'forgot-password')
    await page.getByLabel('E-mail').fill('somebody@example.com')
    await button(page, 'Request a link').click()
    await heading(page, 'Ask the operator of this service').waitFor()
    await requireGood(page, 'forgot-password-no-mail')

    const flags = [
      '--organization',
      'Second Inc',
      '--email',
      'olga@second.example',
      '--project',
      'Shop',
    ]
    const link = /http\S+\/reset-password\/\S+/.exec(footfall('setup', ...flags))![0]
    await page.goto(link)
    await heading(page, 'Choose a new password').waitFor()
    await requireGood(page, 'reset-password')
    await page.getByLabel('New password').fill('a password of her own')
    await button(page, 'Set password').click()
    // She is signed in at once, and the password is the new one.
    await entered(page)
    await button(page, 'Sign out').click()
    await heading(page, 'Sign in').waitFor()
    await page.getByLabel('E-mail', { exact: true }).fill('olga@second.example')
    await page.getByLabel('Password', { exact: true }).fill('a password of her own')
    await button(page, 'Sign in').click()
    await entered(page)
    await page.goto(link)
    await heading(page, 'This link is invalid, expired or was used').waitFor()
    await requireGood(page, 'reset-password-used')
  })
})

test('a member of two organizations turns from one to the other, in the header and by address', async () => {
  const page = await open()
  await signIn(page)
  await page.getByRole('link', { name: 'Members' }).click()
  await button(page, 'Invite').click()
  await page.getByLabel('E-mail').fill('olga@second.example')
  await page.getByLabel('Role', { exact: true }).selectOption('admin')
  await page.locator('dialog button[type=submit]').click()
  await heading(page, 'Invitation for olga@second.example').waitFor()
  await button(page, 'Copy the invitation link').click()
  const link = await copied(page)

  const olga = await open()
  await olga.goto(link)
  await heading(olga, 'Join Demo organization').waitFor()
  await requireGood(olga, 'invitation')
  await olga.getByLabel('Your name').fill('Olga')
  await olga.getByLabel('Password').fill('a password of her own')
  await button(olga, 'Join').click()
  await entered(olga)
  const switcher = olga.getByLabel('Organization', { exact: true })
  expect(await switcher.locator('option').allTextContents()).toEqual([
    'Demo organization',
    'Second Inc',
  ])
  await olga.getByRole('link', { name: 'Demo shop' }).waitFor()
  await requireGood(olga, 'switcher')
  const first = olga.url()
  await switcher.selectOption('Second Inc')
  await olga.getByRole('link', { name: 'Shop', exact: true }).waitFor()
  const second = olga.url()
  expect(second).not.toBe(first)
  await olga.goBack()
  await olga.getByRole('link', { name: 'Demo shop' }).waitFor()
  // A tab of each, at once.
  const tab = await olga.context().newPage()
  await tab.goto(second)
  await tab.getByRole('link', { name: 'Shop', exact: true }).waitFor()
  await olga.reload()
  await olga.getByRole('link', { name: 'Demo shop' }).waitFor()
})

test('a key may less than its maker; whoever removes the maker says what becomes of it', async () => {
  const page = await open()
  await page.goto(at('/'))
  await page.getByLabel('E-mail', { exact: true }).fill('olga@second.example')
  await page.getByLabel('Password', { exact: true }).fill('a password of her own')
  await button(page, 'Sign in').click()
  await entered(page)
  const { organization_id } = dashboard.service.demo
  await page.goto(at(`/${organization_id}/settings/api-keys`))
  await button(page, 'New key').click()
  await page.getByLabel('Name', { exact: true }).fill('Reader')
  await page.getByRole('radio', { name: /^Read\s?Events/ }).check()
  await requireGood(page, 'new-key')
  await button(page, 'Create key').click()
  await heading(page, '“Reader” is ready').waitFor()
  expect(await page.locator('.rows li', { hasText: 'Reader' }).textContent()).toContain('Reads')
  await requireGood(page, 'keys')

  const owner = await open()
  await signIn(owner)
  await owner.getByRole('link', { name: 'Members' }).click()
  const submit = owner.locator('dialog button[type=submit]')
  const question = owner.getByText('API keys of this member:')
  await button(owner, 'Change role of olga@second.example').click()
  await owner.getByLabel('Role', { exact: true }).selectOption('member')
  await submit.click()
  await question.waitFor()
  await requireGood(owner, 'demote-member')
  await button(owner, 'Cancel').click()

  await button(owner, 'Remove olga@second.example').click()
  await submit.click()
  await question.waitFor()
  await requireGood(owner, 'remove-member')
  await owner.getByRole('radio', { name: /Take them over/ }).check()
  await submit.click()
  await button(owner, 'Remove olga@second.example').waitFor({ state: 'detached' })
})
