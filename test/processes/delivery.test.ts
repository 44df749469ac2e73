import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findWorkers, killNow } from '../chaos/processes.ts'
import { ask } from '../harness/api.ts'
import { ownDatabases } from '../harness/databases.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'

let service: Service
beforeAll(async () => {
  service = await startService({ env: await ownDatabases() })
})
afterAll(() => service.stop())

async function post<T>(path: string, body: object): Promise<T> {
  const { api_key, api_secret } = service.demo
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: {
      'x-api-key': api_key,
      'x-api-secret': api_secret,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return answer.json() as Promise<T>
}

test('acknowledged impressions are on disk: they survive the death of the process that took them', async () => {
  const { campaign } = await post<{ campaign: { campaign_id: string } }>('/api/v1/campaigns', {
    project_id: service.demo.project_id,
    name: 'Survives',
    start_date: '2026-01-01',
  })
  const { campaign_id } = campaign
  const events = Array.from({ length: 200 }, () => ({
    event_id: randomUUID(),
    event_type: 'impression',
    campaign_id,
    ts: Date.now() - 1000,
    spend: 0.0025,
  }))
  const { accepted } = await post<{ accepted: number }>('/api/v1/campaigns/events', { events })
  expect(accepted).toBe(200)
  // The worker dies before the shipper has what it acknowledged; another worker replaces it.
  const [worker] = findWorkers(service.process.pid!)
  expect(killNow(worker!.pid)).toBe(true)
  const query = `source=svcdsp&campaign_id=${campaign_id}&limit=1000`
  const rows = await waitFor('the events', async () => {
    const answer = await ask(service, `/api/v3/events/web_event?${query}`).catch(() => null)
    if (!answer?.ok) return null
    const { rows } = (await answer.json()) as { rows: { event_id: string }[] }
    return rows.length >= 200 ? rows : null
  })
  expect(rows.map(({ event_id }) => event_id).toSorted()).toEqual(
    events.map(({ event_id }) => event_id).toSorted(),
  )
})
