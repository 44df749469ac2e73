/** Every page of the dashboard opens, in one appearance. `../dashboardPages.test.ts` looks at the others, in the slow tier. */
import { expect, test } from 'vitest'
import { sticksOut, useDashboard } from '../dashboard.ts'
import { pagesOf, show } from '../pages.ts'

const dashboard = useDashboard()
const { at, open, signIn } = dashboard

test('every page shows its heading and its content, and nothing sticks out', async () => {
  const page = await open()
  await signIn(page)
  const wrong: string[] = []
  for (const [path, heading] of pagesOf(dashboard.service.demo)) {
    await show(page, at(path), heading)
    const elements = await sticksOut(page)
    if (elements.length > 0) wrong.push(`${path}: ${elements.join('\n')}`)
  }
  expect(wrong).toEqual([])
  await page.context().close()
})
