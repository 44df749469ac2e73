/** The pages of the dashboard. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import type { Demo } from '../../collector/ops/demo/demo.ts'

/** Each page, and the heading that says it is there. */
export function pagesOf({
  organization_id,
  project_id,
  pixel_id,
}: Demo): [path: string, heading: string][] {
  return [
    [`/${organization_id}/projects`, 'Projects'],
    [`/${organization_id}/projects/${project_id}`, 'Demo shop'],
    [`/${organization_id}/projects/${project_id}/overview`, 'Overview'],
    [`/${organization_id}/projects/${project_id}/goals`, 'Goals'],
    [`/${organization_id}/projects/${project_id}/sharing`, 'Sharing'],
    [`/${organization_id}/projects/${project_id}/funnels`, 'Funnels'],
    [`/${organization_id}/projects/${project_id}/retention`, 'Retention'],
    [`/${organization_id}/projects/${project_id}/journeys`, 'Journeys'],
    [`/${organization_id}/projects/${project_id}/pixels/${pixel_id}`, 'Demo shop'],
    [`/${organization_id}/projects/${project_id}/pixels/${pixel_id}?platform=shopify`, 'Demo shop'],
    [`/${organization_id}/projects/${project_id}/pixels/${pixel_id}?tab=privacy`, 'Demo shop'],
    [`/${organization_id}/projects/${project_id}/pixels/${pixel_id}?tab=capture`, 'Demo shop'],
    [`/${organization_id}/projects/${project_id}/events`, 'Events'],
    [`/${organization_id}/projects/${project_id}/events?tab=live`, 'Events'],
    [`/${organization_id}/projects/${project_id}/intent`, 'Intent'],
    [`/${organization_id}/projects/${project_id}/vitals`, 'Web Vitals'],
    [`/${organization_id}/projects/${project_id}/audiences`, 'Audiences'],
    [`/${organization_id}/projects/${project_id}/audiences/new`, 'New audience'],
    [`/${organization_id}/projects/${project_id}/people`, 'Visitors'],
    [`/${organization_id}/projects/${project_id}/people?tab=identity`, 'Visitors'],
    [`/${organization_id}/projects/${project_id}/lists`, 'Lists'],
    [`/${organization_id}/projects/${project_id}/exports`, 'Exports'],
    [`/${organization_id}/projects/${project_id}/integrations`, 'Integrations'],
    [`/${organization_id}/projects/${project_id}/webhooks`, 'Webhooks'],
    [`/${organization_id}/projects/${project_id}/archives`, 'Archives'],
    [`/${organization_id}/projects/${project_id}/repairs`, 'Repairs'],
    [`/${organization_id}/developers/requests`, 'Requests'],
    [`/${organization_id}/developers/explorer`, 'API explorer'],
    [`/${organization_id}/developers/samples`, 'Code samples'],
    [`/${organization_id}/members`, 'Members'],
    [`/${organization_id}/usage`, 'Usage'],
    [`/${organization_id}/privacy`, 'Privacy'],
    [`/${organization_id}/operator`, 'Operator'],
    [`/${organization_id}/settings/api-keys`, 'API keys'],
    [`/${organization_id}/settings/organization`, 'Organization'],
    [`/${organization_id}/settings/audit`, 'Audit log'],
    [`/${organization_id}/settings/account`, 'Your account'],
    [`/${organization_id}/nothing`, 'Page not found'],
  ]
}

/** Opens a page and waits until its content is there. */
export async function show(page: Page, url: string, heading: string): Promise<void> {
  await page.goto(url)
  await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
  await loaded(page)
}

export const loaded = (page: Page): Promise<void> =>
  expect.poll(() => page.locator('.loading').count()).toBe(0)
