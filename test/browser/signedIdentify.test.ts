import { execFileSync, spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { hemOf } from '../../collector/platform/hem.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import { snippet } from '../../pixel/stub.mjs'
import { type Accounts, type Json, openAccounts } from '../api/accounts/harness.ts'
import { chrome } from '../harness/api.ts'
import { leaveChromium, openChromium } from '../harness/chromium.ts'
import { waitFor } from '../harness/service.ts'

const examples = join(packageRoot, 'examples/signed-identify')

let it: Accounts
let browser: Browser
beforeAll(async () => {
  it = await openAccounts()
  browser = await openChromium()
})
afterAll(async () => {
  await leaveChromium(browser)
  await it?.close()
})

/** A customer's site whose pages call identify with this. */
async function openSite(pixelId: string, person: object) {
  const site = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(
      `<!doctype html><title>Shop</title>${snippet(`${it.url}/p/${pixelId}.js`)}
       <script>footfall('identify', ${JSON.stringify(person)})</script>`,
    )
  })
  await new Promise<void>((listening) => site.listen(0, '127.0.0.1', listening))
  return { site, url: `http://127.0.0.1:${(site.address() as AddressInfo).port}/` }
}

test('a page whose server signs is linked, as the example has it; one that does not is refused, and counted', async () => {
  const pixel_id = await it.makePixel(it.demo.project_id, {
    settings: { require_signed_identify: true },
  })
  const { secrets } = await it.done(it.key, `GET /api/v1/pixel/identify-secrets/${pixel_id}`)
  const { identifyOf } = await import(pathToFileURL(join(examples, 'sign.mjs')).href)
  const { hem, signature } = identifyOf(' Ann@Example.com', secrets[0].secret)
  expect(hem).toBe(hemOf('ann@example.com'))

  const visit = async (person: object) => {
    const { site, url } = await openSite(pixel_id, person)
    const context = await browser.newContext({ userAgent: chrome })
    try {
      const page = await context.newPage()
      const receipt = page.waitForResponse(async (answer) => {
        if (!answer.url().endsWith('/e')) return false
        return (answer.request().postData() ?? '').includes('"identify"')
      })
      await page.goto(url)
      return (await (await receipt).json()) as Json
    } finally {
      await context.close()
      site.close()
    }
  }
  const hemsOf = async (cookie: string) => {
    const query = `filter=cookie_id:eq:${cookie}&select=hem`
    const { rows } = await it.done(it.key, `GET /api/v3/events/resolution_hem?${query}`)
    return [...new Set(rows.map(({ hem }: Json) => hem))]
  }

  for (const person of [
    { email: 'ann@example.com', signature },
    { hem, signature },
  ]) {
    const signed = await visit(person)
    expect(signed).toMatchObject({ rejected: [] })
    await waitFor('the link', async () => (await hemsOf(signed.cookie_id)).join() === hem)
  }
  for (const person of [{ email: 'ann@example.com' }, { email: 'eve@example.com', signature }]) {
    const refused = await visit(person)
    expect(refused.rejected).toMatchObject([{ path: '/hem_signature' }])
    await waitFor('the page view', async () => (await hemsOf(refused.cookie_id)).length > 0)
    expect(await hemsOf(refused.cookie_id)).toEqual([null])
  }
}, 600_000)

test('an admin sees, rotates and retires the secret on the pixel’s page', async () => {
  const pixel_id = await it.makePixel(it.demo.project_id)
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  context.setDefaultTimeout(25_000)
  const page = await context.newPage()
  await page.goto(it.url)
  await page.getByLabel('E-mail', { exact: true }).fill(it.demo.admin_email)
  await page.getByLabel('Password', { exact: true }).fill(it.demo.admin_password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation', { name: 'Dashboard' }).waitFor()
  await page.goto(
    `${it.url}/${it.demo.organization_id}/projects/${it.demo.project_id}/pixels/${pixel_id}`,
  )
  const part = page.getByRole('region', { name: 'Sign identify' })
  const [{ secret: old }] = await secretsOf(pixel_id)
  // The page with the snippet does not have it.
  await page.getByText('Plain HTML').first().waitFor()
  expect(await page.content()).not.toContain(old)
  await page.getByRole('tab', { name: 'Sign identify' }).click()
  await part.getByText(old).waitFor()
  await part.getByRole('button', { name: 'Rotate secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
  await part.getByText('valid until it is retired').waitFor()
  const [{ secret: next }] = await secretsOf(pixel_id)
  expect(await part.locator('pre').allInnerTexts()).toEqual([next, old])
  await part.getByRole('button', { name: 'Retire old secret' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Retire old secret' }).click()
  await part.getByText(old).waitFor({ state: 'detached' })
  expect(await secretsOf(pixel_id)).toEqual([{ version: 2, secret: next }])
  await context.close()
}, 600_000)

const secretsOf = async (pixel_id: string): Promise<Json> =>
  (await it.done(it.key, `GET /api/v1/pixel/identify-secrets/${pixel_id}`)).secrets

const hasPython = spawnSync('python3', ['--version']).status === 0
test.skipIf(!hasPython)('the example in Python makes what that in Node makes', async () => {
  const { identifyOf } = await import(pathToFileURL(join(examples, 'sign.mjs')).href)
  const code = `import json, sign; print(json.dumps(sign.identify_of(" Ann@Example.com", "${'ab'.repeat(32)}")))`
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
  const made = execFileSync('python3', ['-c', code], { cwd: examples, encoding: 'utf8', env })
  expect(JSON.parse(made)).toEqual(identifyOf('ann@example.com', 'ab'.repeat(32)))
})
