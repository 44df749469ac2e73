import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { waitFor } from '../harness/service.ts'
import { button, copied, heading, sticksOut, useDashboard, violations } from './dashboard.ts'

const dashboard = useDashboard()
const { at, open, signIn } = dashboard

test('two at once: what somebody else changed meanwhile is shown, and overwritten only on purpose', async () => {
  const [mine, theirs] = [await open(), await open()]
  const { organization_id, project_id, pixel_id } = dashboard.service.demo
  for (const page of [mine, theirs]) {
    await signIn(page)
    await page.goto(at(`/${organization_id}/projects/${project_id}/pixels/${pixel_id}?tab=privacy`))
    await heading(page, 'Privacy').waitFor()
  }
  await theirs.getByLabel('Consent').selectOption('hold')
  await button(theirs, 'Save settings').click()
  await theirs.getByText('Settings saved').waitFor()

  await mine.getByLabel('Drop events of bots').check()
  await button(mine, 'Save settings').click()
  const notice = mine.getByRole('alert')
  expect(await notice.textContent()).toContain('Someone else changed this at the same time.')
  await mine.locator('.meanwhile').first().waitFor()
  expect(await mine.locator('.meanwhile').allTextContents()).toEqual([
    'Someone else changed this to “Hold: events wait in the page”',
  ])
  expect(await violations(mine)).toEqual([])
  const stored = async () => {
    await theirs.reload()
    await heading(theirs, 'Privacy').waitFor()
    return {
      consent: await theirs.getByLabel('Consent').inputValue(),
      dropsBots: await theirs.getByLabel('Drop events of bots').isChecked(),
    }
  }
  expect(await stored()).toEqual({ consent: 'hold', dropsBots: false })

  await button(mine, 'Use the other changes').click()
  expect(await mine.getByLabel('Consent').inputValue()).toBe('hold')
  await mine.getByLabel('Drop events of bots').check()
  await button(mine, 'Save settings').click()
  await mine.getByText('Settings saved').waitFor()
  expect(await stored()).toEqual({ consent: 'hold', dropsBots: true })

  await theirs.getByLabel('Consent').selectOption('cookieless')
  await button(theirs, 'Save settings').click()
  await theirs.getByText('Settings saved').waitFor()
  await mine.getByLabel('Consent').selectOption('granted')
  await button(mine, 'Save settings').click()
  await button(mine, 'Save my changes anyway').click()
  await mine.getByText('Settings saved').waitFor()
  expect(await stored()).toEqual({ consent: 'granted', dropsBots: true })
  await mine.context().close()
  await theirs.context().close()
})

test('an invited member chooses a password and sees only their project, without the means to change it', async () => {
  const narrow = { viewport: { width: 360, height: 800 } }
  const [owner, guest] = [await open(narrow), await open(narrow)]
  await signIn(owner)
  await button(owner, 'Menu').click()
  await owner.getByRole('link', { name: 'Members' }).click()
  await button(owner, 'Invite').click()
  const email = `${randomUUID()}@example.com`
  await owner.getByLabel('E-mail', { exact: true }).fill(email)
  // The only project is chosen; without one the member would see nothing.
  expect(await owner.getByLabel('Demo shop').inputValue()).toBe('member')
  await owner.getByLabel('Demo shop').selectOption('')
  await owner.getByText('Without one, the member sees nothing.').waitFor()
  await button(owner, 'Invite without a project').waitFor()
  await owner.getByLabel('Demo shop').selectOption('member')
  await button(owner, 'Create invitation').click()
  await button(owner, 'Copy the invitation link').click()
  const lostLink = await copied(owner)
  expect(await sticksOut(owner)).toEqual([])
  await button(owner, 'Done').click()
  await button(owner, `New link for ${email}`).click()
  await button(owner, 'Copy the invitation link').click()
  const link = await copied(owner)
  await button(owner, 'Done').click()

  await guest.goto(lostLink)
  await heading(guest, 'This invitation is invalid, expired or was used').waitFor()
  await guest.goto(link)
  await heading(guest, 'Join Demo organization').waitFor()
  expect(await sticksOut(guest)).toEqual([])
  await guest.getByLabel('Your name', { exact: true }).fill('Grace Guest')
  await guest.getByLabel('Password').fill('too short')
  await button(guest, 'Join').click()
  expect(await guest.getByLabel('Password').getAttribute('aria-invalid')).toBe('true')
  await guest.getByLabel('Password').fill('long enough by far')
  await button(guest, 'Join').click()
  // The only project: its overview comes first.
  await heading(guest, 'Overview').waitFor()
  await guest.goto(at(`/${dashboard.service.demo.organization_id}/projects`))
  await guest.locator('.rows li').first().waitFor()
  expect(await guest.locator('.rows .name').allTextContents()).toEqual(['Demo shop'])
  await expect.poll(() => button(guest, 'New project').count()).toBe(0)
  await button(guest, 'Menu').click()
  await guest.getByRole('link', { name: 'API keys' }).waitFor()
  await expect.poll(() => guest.getByRole('link', { name: 'Audit log' }).count()).toBe(0)

  await guest.goto(link)
  await heading(guest, 'This invitation is invalid, expired or was used').waitFor()

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

test('of several projects, an invitation is for the one that was open, or for all; without any is the second choice', async () => {
  const page = await open()
  await signIn(page)
  await button(page, 'New project').click()
  await page.getByLabel('Name', { exact: true }).fill('Second shop')
  await button(page, 'Create project').click()
  await heading(page, 'Second shop').waitFor()
  const invite = async (email: string) => {
    await button(page, 'Invite').click()
    await page.getByLabel('E-mail', { exact: true }).fill(email)
    await page.getByText(/^The member sees /).waitFor()
  }
  const access = (project: string) => page.getByRole('combobox', { name: project, exact: true })
  const chosen = () =>
    Promise.all(['Demo shop', 'Second shop'].map((name) => access(name).inputValue()))
  await page.getByRole('navigation', { name: 'Dashboard' }).locator('summary').click()
  await page.getByRole('link', { name: 'Members', exact: true }).click()
  await invite('one@shop.example')
  expect(await chosen()).toEqual(['', 'member'])
  await page.getByText('The member sees 1 project.').waitFor()
  expect(await violations(page)).toEqual([])
  await button(page, 'Create invitation').click()
  await button(page, 'Done').click()
  const row = (email: string) => page.locator('.rows li', { hasText: email })
  await row('one@shop.example').getByText('1 project ·').waitFor()

  // No project was open before: all that the inviter sees.
  await page.reload()
  await invite('none@shop.example')
  expect(await chosen()).toEqual(['member', 'member'])
  for (const name of ['Demo shop', 'Second shop']) await access(name).selectOption('')
  await page.getByText('Without one, the member sees nothing.').waitFor()
  // Neither the button nor Enter invites by mistake.
  const main = page.locator('dialog button.primary')
  expect(await main.getAttribute('aria-disabled')).toBe('true')
  await page.getByLabel('E-mail', { exact: true }).press('Enter')
  await page.setViewportSize({ width: 360, height: 800 })
  expect(await sticksOut(page)).toEqual([])
  expect(await violations(page)).toEqual([])
  await button(page, 'Invite without a project').click()
  await button(page, 'Done').click()
  await row('none@shop.example').getByText('no project ·').waitFor()
  await page.context().close()
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
  await expect.poll(() => page.getByRole('link', { name: 'Short-lived project' }).count()).toBe(0)
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
  await page
    .locator('p', { hasText: /^\S+ signed in\s*$/ })
    .first()
    .waitFor()
  await page.context().close()
})
