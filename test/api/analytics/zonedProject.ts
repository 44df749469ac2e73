import { setTimeout } from 'node:timers/promises'
import { storeOrganization, storeProject } from '../../harness/owners.ts'
import { type openEvents, organizationId } from '../events/harness.ts'

/** What tests of figures in several time zones share. */

const triesMax = 20

export const hourMs = 3_600_000
export const zones = ['UTC', 'America/Los_Angeles', 'Asia/Kathmandu'] as const
/** Days on which clocks in Los Angeles change. */
export const changes = [
  { date: '2026-03-08', next: '2026-03-09', hours: 23 },
  { date: '2026-11-01', next: '2026-11-02', hours: 25 },
] as const

/** Requests a route of analytics, and throws unless it answers 200. */
export type Ask = <T>(method: 'GET' | 'POST' | 'PUT', path: string, asked: object) => Promise<T>

/** Stores the organization and a project with the goal Ordered, and returns how to ask for its figures. */
export async function openProject(
  { app, postgres }: Awaited<ReturnType<typeof openEvents>>,
  projectId: string,
): Promise<Ask> {
  await storeOrganization(postgres, organizationId)
  await storeProject(postgres, projectId, organizationId)
  const ask: Ask = async (method, path, asked) => {
    const query = new URLSearchParams(
      Object.entries(asked).map(([name, value]) => [name, String(value)]),
    )
    const send = () =>
      app.inject(
        method === 'GET'
          ? { url: `/api/v1/analytics/${path}?${query}` }
          : { method, url: `/api/v1/analytics/${path}`, payload: asked },
      )
    let answer = await send()
    // A busy machine may drop a connection to a store, which the answer asks to repeat.
    for (let tries = 1; answer.statusCode === 503 && tries < triesMax; tries++) {
      await setTimeout(500)
      answer = await send()
    }
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
    return answer.json()
  }
  const goals = [{ name: 'Ordered', filter: 'page_path:eq:/thanks' }]
  await ask('PUT', 'goals', { project_id: projectId, goals })
  return ask
}
