/** The overview of the demo's month of sample visitors, for a test file. */
import type { Page } from 'playwright-core'
import { beforeAll, expect } from 'vitest'
import { ask } from '../harness/api.ts'
import { waitFor } from '../harness/service.ts'
import { useDashboard } from './dashboard.ts'

/** Polls until the page shows the expected value, also on a slow machine. */
export const eventually = <T>(read: () => T) => expect.poll(read, { timeout: 30_000 })

/** The number that a text shows. */
export const numberIn = (text: string | null): number => Number(text!.replace(/\D/g, ''))

/** Opens the overview of a new tenant with sample visitors. */
export function useOverview() {
  const dashboard = useDashboard({ hasVisitors: true })
  let page: Page
  const pageOf = (name: string, search = '') => {
    const { organization_id, project_id } = dashboard.service.demo
    return dashboard.at(`/${organization_id}/projects/${project_id}/${name}${search}`)
  }

  beforeAll(async () => {
    // The visitors come while the service is ready already, their pixel last of all.
    const { project_id } = dashboard.service.demo
    await waitFor('the sample visitors', async () =>
      (
        await (await ask(dashboard.service, `/api/v1/pixel/list?project_id=${project_id}`)).text()
      ).includes('Sample visitors'),
    )
    page = await dashboard.open()
    await dashboard.signIn(page)
    await page.goto(pageOf('overview'))
    await page.locator('.tile').first().waitFor()
  })

  const tile = (name: string) =>
    page.locator('.tile', { has: page.locator('.tile-name', { hasText: name }) })
  return {
    dashboard,
    get page() {
      return page
    },
    /** The address of a page of the project. */
    pageOf,
    overview: (search = '') => pageOf('overview', search),
    tile,
    numberOf: async (name: string) =>
      numberIn(await tile(name).locator('.tile-value').textContent()),
    panel: (name: string) => page.getByRole('region', { name, exact: true }),
    /** Waits until nothing is on its way. */
    fresh: () => eventually(() => page.locator('.stale, .loading').count()).toBe(0),
    searchParam: (name: string) => new URL(page.url()).searchParams.get(name),
    /** Reads figures of the project from the analytics API. */
    async analytics<T>(path: string, query: Record<string, string | number>): Promise<T> {
      const { api_key, api_secret, project_id } = dashboard.service.demo
      const search = new URLSearchParams({ project_id })
      for (const [name, value] of Object.entries(query)) search.set(name, String(value))
      const answer = await fetch(dashboard.at(`/api/v1/analytics/${path}?${search}`), {
        headers: { 'x-api-key': api_key, 'x-api-secret': api_secret },
      })
      if (!answer.ok) throw new Error(await answer.text())
      return (await answer.json()) as T
    },
  }
}
