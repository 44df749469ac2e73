import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { stepAt } from '../../collector/accounts/credentials/totp.ts'
import { beaconOf, customEvent, postBeacon, receiptOf } from '../harness/api.ts'
import { fromBase32 } from '../harness/base32.ts'
import { waitFor } from '../harness/service.ts'
import { codeOf } from '../harness/totp.ts'
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
/** Place of screenshots, for developers of these pages. */
const { SCREENSHOTS } = process.env

describe('a pixel’s page', () => {
  const openPixel = async (query = ''): Promise<Page> => {
    const { organization_id, project_id, pixel_id } = dashboard.service.demo
    const page = await open()
    await signIn(page)
    await page.goto(at(`/${organization_id}/projects/${project_id}/pixels/${pixel_id}${query}`))
    await page.getByRole('tab', { name: 'Install' }).waitFor()
    return page
  }
  const tab = (page: Page, name: string) => page.getByRole('tab', { name, exact: true })

  test('has the code for each kind of site, with its own id and address, kept in the page’s address', async () => {
    const page = await openPixel()
    const { pixel_id } = dashboard.service.demo
    for (const [platform, labels] of Object.entries({
      'Plain HTML': ['the snippet'],
      'Google Tag Manager': ['the tag'],
      WordPress: ['the plugin'],
      React: ['the element'],
      'Next.js': ['the layout'],
      Shopify: ['the theme’s snippet', 'the checkout’s pixel'],
    })) {
      await tab(page, platform).click()
      for (const label of labels) {
        await button(page, `Copy ${label}`).click()
        await expect.poll(() => copied(page)).toContain(pixel_id)
        const code = await copied(page)
        expect(code, label).toContain(dashboard.service.url)
        expect(code, label).not.toContain('PIXEL_ID')
      }
    }
    await page.reload()
    await button(page, 'Copy the checkout’s pixel').waitFor()
    await page.context().close()
  })

  test('its tabs go by arrows, and only the chosen one is in the order of Tab', async () => {
    const page = await openPixel()
    await tab(page, 'Install').focus()
    await page.keyboard.press('ArrowRight')
    expect(await tab(page, 'Privacy').getAttribute('aria-selected')).toBe('true')
    await page.keyboard.press('End')
    await heading(page, 'Sign identify').waitFor()
    await page.keyboard.press('ArrowLeft')
    await heading(page, 'Capture').waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Capture')
    expect(new URL(page.url()).search).toBe('?tab=capture')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.name')).toBe('active')
    await page.context().close()
  })

  test('what is not saved is counted in sight, on whichever tab, and saved as one', async () => {
    const page = await openPixel('?tab=privacy')
    await expect.poll(() => button(page, 'Save settings').count()).toBe(0)
    await page.getByLabel('Drop events of bots').check()
    await tab(page, 'Capture').click()
    await page.getByLabel('Maximum text length').fill('77')
    await page.getByText('2 unsaved changes').waitFor()
    await page.setViewportSize({ width: 360, height: 640 })
    expect(await violations(page)).toEqual([])
    expect(await sticksOut(page)).toEqual([])
    await button(page, 'Discard').click()
    expect(await page.getByLabel('Maximum text length').inputValue()).not.toBe('77')
    await button(page, 'Save settings').waitFor({ state: 'hidden' })

    await page.getByLabel('Maximum text length').fill('78')
    await tab(page, 'Privacy').click()
    await page.getByLabel('Drop events of bots').check()
    await button(page, 'Save settings').click()
    await page.getByText('Settings saved').waitFor()
    await button(page, 'Save settings').waitFor({ state: 'hidden' })
    await page.reload()
    await expect.poll(() => page.getByLabel('Drop events of bots').isChecked()).toBe(true)
    expect(await page.getByLabel('Maximum text length').inputValue()).toBe('78')
    await page.context().close()
  })

  test('what is wrong on the other tab is shown there, with the focus on it', async () => {
    const page = await openPixel('?tab=capture')
    await page.getByLabel('Maximum text length').fill('')
    await tab(page, 'Privacy').click()
    await page.getByLabel('Drop events of bots').click()
    await button(page, 'Save settings').click()
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('text_length_max')
    expect(await tab(page, 'Capture').getAttribute('aria-selected')).toBe('true')
    await page.context().close()
  })

  test('whoever leaves by a link, Back or the browser is asked before unsaved changes are lost', async () => {
    const page = await openPixel('?tab=privacy')
    const { organization_id, project_id } = dashboard.service.demo
    const pixelUrl = page.url()
    await page.goto(at(`/${organization_id}/projects/${project_id}`))
    await page.locator('main').getByRole('link', { name: 'Demo shop', exact: true }).click()
    await tab(page, 'Privacy').click()
    await page.getByLabel('Drop events of bots').click()
    await page.getByText('1 unsaved change').waitFor()

    await page.getByRole('navigation', { name: 'Dashboard' }).locator('summary').click()
    await page.getByRole('link', { name: 'Members', exact: true }).click()
    await heading(page, 'Leave without saving?').waitFor()
    expect(await violations(page)).toEqual([])
    await button(page, 'Cancel').click()
    expect(page.url()).toBe(pixelUrl)

    await page.evaluate('history.back()')
    await heading(page, 'Leave without saving?').waitFor()
    await page.keyboard.press('Escape')
    await page.locator('dialog').waitFor({ state: 'detached' })
    await page.getByText('1 unsaved change').waitFor()

    const asked = page.waitForEvent('dialog')
    void page.reload().catch(() => {})
    const dialog = await asked
    expect(dialog.type()).toBe('beforeunload')
    await dialog.dismiss()

    await page.getByRole('link', { name: 'Members', exact: true }).click()
    await button(page, 'Leave').click()
    await heading(page, 'Members').waitFor()
    // Nothing is unsaved here any more.
    await page.getByRole('link', { name: 'Usage', exact: true }).click()
    await heading(page, 'Usage').waitFor()
    await page.context().close()
  })
})

describe('a project’s settings', () => {
  test('one click adds the network of the person who is signed in; faults stand at their field; the pixel’s page says what is ignored', async () => {
    const { organization_id, project_id, pixel_id } = dashboard.service.demo
    const projectPath = `/${organization_id}/projects/${project_id}`
    const page = await open()
    await signIn(page)
    await page.goto(at(projectPath))
    await page
      .getByRole('navigation', { name: 'Project' })
      .getByRole('link', { name: 'Settings', exact: true })
      .click()
    await heading(page, 'Ignored traffic').waitFor()
    expect(new URL(page.url()).pathname).toBe(`${projectPath}/settings`)

    const networks = page.getByLabel('Ignored networks')
    await button(page, 'Add your network (127.0.0.1)').click()
    await button(page, 'Add your network (127.0.0.1)').click()
    expect(await networks.inputValue()).toBe('127.0.0.1')
    await page.getByLabel('Ignored hosts').fill('staging.example.com\n*.preview.example.com')
    await page.getByLabel('Ignored paths').fill('/preview?draft=1')
    await page.getByText('3 unsaved changes').waitFor()
    await button(page, 'Save settings').click()
    await page.getByText('Must begin with "/" or "*"').waitFor()
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('ignored_paths')
    expect(await violations(page)).toEqual([])

    await page.getByLabel('Ignored paths').fill('/preview')
    await button(page, 'Save settings').click()
    await page.getByText('Settings saved').waitFor()
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await sticksOut(page)).toEqual([])
      if (SCREENSHOTS)
        await page.screenshot({ path: `${SCREENSHOTS}/settings-${width}.png`, fullPage: true })
    }
    expect(await violations(page)).toEqual([])
    await page.reload()
    await expect.poll(() => networks.inputValue()).toBe('127.0.0.1')

    await page.setViewportSize({ width: 1280, height: 900 })
    await waitFor('the event to be ignored', async () => {
      const beacon = beaconOf(dashboard.service, [customEvent()])
      return (await receiptOf(await postBeacon(dashboard.service.url, beacon))).ignored === 1
    })
    await page.goto(at(`${projectPath}/pixels/${pixel_id}`))
    const notice = page.getByText('Events were ignored')
    await notice.waitFor()
    await page.getByText('The project ignores the network that sent the events.').waitFor()
    expect(await violations(page)).toEqual([])
    if (SCREENSHOTS) await page.screenshot({ path: `${SCREENSHOTS}/pixel-1280.png` })
    await page.getByRole('link', { name: 'Change the ignored traffic' }).click()
    await heading(page, 'Ignored traffic').waitFor()
    await page.context().close()
  })
})

describe('one’s account', () => {
  const openAccount = async (page: Page) => {
    await page.goto(at(`/${dashboard.service.demo.organization_id}/settings/account`))
    await heading(page, 'Active sessions').waitFor()
    await expect.poll(() => page.locator('.loading').count()).toBe(0)
  }

  test('a session of another browser is listed and ended', async () => {
    const [here, there] = [await open(), await open()]
    await signIn(here)
    await signIn(there)
    await openAccount(here)
    await here.getByRole('button', { name: 'End all others' }).click()
    await here.getByText('session ended').or(here.getByText('sessions ended')).waitFor()
    await expect.poll(() => here.locator('.rows li').count()).toBe(1)
    expect(await here.locator('.rows li').textContent()).toContain('Chrom')
    await expect
      .poll(async () => {
        await there.goto(at('/'))
        return there.getByRole('heading', { level: 1 }).textContent()
      })
      .toBe('Sign in')
    await here.context().close()
    await there.context().close()
  })

  test('two-factor authentication is turned on by a code, asked for at sign-in, and turned off', async () => {
    const { admin_password } = dashboard.service.demo
    const page = await open({ viewport: { width: 360, height: 800 } })
    await signIn(page)
    await openAccount(page)
    await button(page, 'Turn on').click()
    await page.locator('dialog').getByLabel('Current password').fill(admin_password)
    await button(page, 'Continue').click()
    await page.getByRole('img', { name: 'The secret of your two-factor authentication' }).waitFor()
    expect(await violations(page)).toEqual([])
    expect(await sticksOut(page)).toEqual([])
    const secret = fromBase32((await page.locator('dialog pre').textContent())!)
    const codeAt = (apart: number) => codeOf(secret, stepAt(Date.now()) + apart)
    await page.getByLabel('Code').fill('000000')
    await page.locator('dialog').getByRole('button', { name: 'Turn on' }).click()
    await page.locator('dialog .fault').waitFor()
    await page.getByLabel('Code').fill(codeAt(0))
    await page.locator('dialog').getByRole('button', { name: 'Turn on' }).click()
    await heading(page, 'Store your recovery codes').waitFor()
    expect(await violations(page)).toEqual([])
    await button(page, 'Copy the recovery codes').click()
    await expect.poll(() => copied(page)).toMatch(/^(?:\w{4}-){3}\w{4}\n/)
    const [recoveryCode, otherCode] = (await copied(page)).split('\n')
    await button(page, 'I have stored them').click()
    await button(page, 'Turn off').waitFor()

    const again = await open({ viewport: { width: 360, height: 800 } })
    await again.goto(at('/'))
    await again.getByLabel('E-mail', { exact: true }).fill(dashboard.service.demo.admin_email)
    await again.getByLabel('Password', { exact: true }).fill(admin_password)
    await button(again, 'Sign in').click()
    await heading(again, 'Enter your code').waitFor()
    expect(await violations(again)).toEqual([])
    await again.getByLabel('Code').fill('000000')
    await button(again, 'Sign in').click()
    await again.getByText('The code is wrong').waitFor()
    // Another one than before, and still good when a slow machine sends it half a minute later.
    await again.getByLabel('Code').fill(codeAt(1))
    await button(again, 'Sign in').click()
    await entered(again)
    await again.context().close()

    await page.getByLabel('Current password').fill(admin_password)
    await page.getByLabel('New password').fill(admin_password)
    await page.getByLabel('Code').fill('000000')
    await button(page, 'Change password').click()
    await page.getByText('The code is wrong').waitFor()
    await page.getByLabel('Code').fill(otherCode!)
    await button(page, 'Change password').click()
    await page.getByText('Password changed').waitFor()

    await button(page, 'Turn off').click()
    await page.locator('dialog').getByLabel('Current password').fill(admin_password)
    await page.locator('dialog').getByLabel('Code').fill(recoveryCode!)
    await page.locator('dialog').getByRole('button', { name: 'Turn off' }).click()
    await page.getByText('Two-factor authentication is off').waitFor()
    await button(page, 'Turn on').waitFor()
    await page.context().close()
  })
})

test('privacy: somebody opts out and is erased; the erasure is seen under way', async () => {
  const page = await open({ viewport: { width: 360, height: 800 } })
  await signIn(page)
  await page.goto(at(`/${dashboard.service.demo.organization_id}/privacy`))
  await page.getByText('No opt-outs.').waitFor()
  await button(page, 'Opt a person out').click()
  await page.locator('dialog').getByLabel('Person or browser').fill('not one of the three')
  await button(page, 'Opt out').click()
  await page
    .getByText(
      'Must be an e-mail address, its SHA-256 hash, or a visitor id (got “not one of the three”).',
    )
    .waitFor()
  expect(await violations(page)).toEqual([])
  await page.locator('dialog').getByLabel('Person or browser').fill('ann@example.com')
  await button(page, 'Opt out').click()
  const optOuts = page.getByRole('region', { name: 'Opt-outs' })
  await optOuts.locator('li code').waitFor()
  expect(await optOuts.locator('li code').textContent()).toMatch(/^[\da-f]{64}$/)

  await button(page, 'Erase a person…').click()
  await page.locator('dialog').getByLabel('Person or browser').fill('ann@example.com')
  await button(page, 'Erase').click()
  const erasures = page.getByRole('region', { name: 'Erasures' })
  await erasures.getByText('In progress').waitFor()
  expect(await violations(page)).toEqual([])
  expect(await sticksOut(page)).toEqual([])

  const downloading = page.waitForEvent('download')
  await page.getByLabel('Person or browser').fill('ann@example.com')
  await button(page, 'Download').click()
  expect((await downloading).suggestedFilename()).toBe('export.ndjson')

  await optOuts.getByRole('button', { name: /^Delete the opt-out/ }).click()
  await button(page, 'Delete opt-out').last().click()
  await page.getByText('No opt-outs.').waitFor()
  await page.context().close()
})

test('lists are searched and sorted, with that in the address', async () => {
  const page = await open()
  await signIn(page)
  for (const name of ['Zebra site', 'Apple site', 'Mango site']) {
    await page.evaluate(
      `fetch('/api/v1/project/create', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ name: ${JSON.stringify(name)} }) })`,
    )
  }
  await page.reload()
  await page.getByLabel('Search projects').fill('site')
  await expect
    .poll(() => page.locator('.rows .name').allTextContents())
    .toEqual(['Zebra site', 'Apple site', 'Mango site'])
  await page.getByLabel('Sort projects').selectOption('name')
  const byName = ['Apple site', 'Mango site', 'Zebra site']
  await expect.poll(() => page.locator('.rows .name').allTextContents()).toEqual(byName)
  expect(new URL(page.url()).search).toBe('?q=site&sort=name')
  await page.reload()
  await expect.poll(() => page.locator('.rows .name').allTextContents()).toEqual(byName)
  await page.getByLabel('Search projects').fill('no such thing')
  await page.getByText('No row matches your search.').waitFor()
  expect(await violations(page)).toEqual([])
  await page.context().close()
})
