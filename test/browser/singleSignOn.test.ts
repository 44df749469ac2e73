/** An owner connects a real provider, and people sign in through it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OidcProvider, openOidcProvider } from '../harness/oidcProvider.ts'
import { button, entered, expectAccessible, heading, useDashboard } from './dashboard.ts'

const dashboard = useDashboard()
const { at, open, signIn } = dashboard
const signInName = `acme-${Date.now()}`

let provider: OidcProvider
beforeAll(async () => {
  const { organization_id } = dashboard.service.demo
  provider = await openOidcProvider(at(`/dashboard/single-sign-on/callback/${organization_id}`), {
    ada: { name: 'Ada', email: 'ada@acme.example', email_verified: true, groups: ['analysts'] },
    eve: { name: 'Eve', email: 'eve@acme.example', email_verified: true, groups: [] },
    mel: { name: 'Mel', email: 'mel@acme.example', email_verified: false, groups: ['analysts'] },
  })
})
afterAll(() => provider?.close())

async function atProvider(page: Awaited<ReturnType<typeof open>>, name: string) {
  await heading(page, 'Sign in at the provider').waitFor()
  await page.getByLabel('Name').fill(name)
  await button(page, 'Go').click()
}

test('an owner connects the provider, whose people then sign in and have the roles of their groups', async () => {
  const page = await open()
  await signIn(page)
  await page.getByRole('link', { name: 'Single sign-on' }).click()
  await heading(page, 'Single sign-on').waitFor()
  await expectAccessible(page, 'single-sign-on-settings')
  const values = {
    'Sign-in name': signInName,
    'Name of the provider': 'Acme ID',
    Issuer: 'https://10.0.0.1',
    'Client ID': provider.clientId,
    'Client secret': provider.clientSecret,
    'E-mail domains': 'acme.example',
    'Roles of groups': 'analysts=admin',
  }
  for (const [label, value] of Object.entries(values))
    await page.getByLabel(label, { exact: true }).fill(value)
  await page.getByLabel('New members in none of these groups').selectOption('Refuse them')
  await button(page, 'Connect provider').click()
  await page.getByText('10.0.0.1 is not on the public Internet').waitFor()
  await page.getByLabel('Issuer', { exact: true }).fill(provider.issuer)
  await button(page, 'Connect provider').click()
  await button(page, 'Remove…').waitFor()
  expect(await page.getByLabel('Client secret').inputValue()).toBe('')

  const ada = await open()
  await ada.goto(at('/sign-in'))
  await button(ada, 'Use single sign-on').click()
  await expectAccessible(ada, 'single-sign-on')
  await ada.getByLabel('Sign-in name').fill(signInName)
  await button(ada, 'Continue').click()
  await atProvider(ada, 'ada')
  await entered(ada)
  const { organization_id } = dashboard.service.demo
  await ada.goto(at(`/${organization_id}/members`))
  await ada.getByText('ada@acme.example').waitFor()
  await ada.goto(at(`/${organization_id}/settings/account`))
  await ada.getByText('through the identity provider of').waitFor()
  await expectAccessible(ada, 'single-sign-on-account')
})

test('a person in no group, and one whose address is not verified, learn why they are refused', async () => {
  for (const [name, reason] of [
    ['eve', 'You are in no group that may use Footfall'],
    ['mel', 'has not verified your e-mail address'],
  ] as const) {
    const page = await open()
    await page.goto(at(`/sign-in?organization=${signInName}`))
    await button(page, 'Continue').click()
    await atProvider(page, name)
    await page.getByRole('alert').filter({ hasText: reason }).waitFor()
  }
})

test('a visitor who leaves the provider without signing in returns to the sign-in page', async () => {
  const page = await open()
  await page.goto(at(`/sign-in?organization=${signInName}`))
  await button(page, 'Continue').click()
  await atProvider(page, 'nobody')
  await page.getByRole('alert').filter({ hasText: 'did not confirm the sign-in' }).waitFor()
  expect(await button(page, 'Continue').isVisible()).toBe(true)
})
