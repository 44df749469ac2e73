import { randomUUID } from 'node:crypto'
import { ApiError, createClient } from '../../api/client/index.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { dayMs } from '../../platform/days.ts'
import type { Demo } from './demo.ts'
import { demoAudienceId } from './sampleVisitors.ts'
import { samplePixelId, storedRows } from './sampleVisits.ts'

const answerMs = 10_000

/**
 * Uses a new service: sends requests with the demo's live key, and a beacon without stored events. So the
 * pages of requests, usage, opt-outs, the audit log and rejected events have real content. `baseUrl` is the
 * address of the service.
 */
export async function useSample(
  clickhouse: ClickHouse,
  demo: Demo,
  baseUrl: string,
  now = new Date(),
): Promise<void> {
  const [log] = await clickhouse.rows<{ requests: number }>({
    sql: 'SELECT count() AS requests FROM api_requests WHERE organization_id = {organization:UUID}',
    params: { organization: demo.organization_id },
  })
  if (log!.requests > 0) return
  await sendRejected(demo, baseUrl, now)
  const { api_key: key, api_secret: secret, project_id } = demo
  const api = createClient({ baseUrl, key, secret, maxTries: 1, timeoutMs: answerMs })
  const window = { project_id, start_ms: now.getTime() - 7 * dayMs, end_ms: now.getTime() - dayMs }
  const asked = [
    () => api.listEvents({ ...window, filter: 'event_type:eq:search', limit: 20 }),
    () => api.listEventsWithHem({ ...window, limit: 10 }),
    () => api.getAnalyticsOverview(window),
    // This request adds an error to the log.
    () => api.getAnalyticsBreakdown({ ...window, dimensions: 'no_such_field' }),
    () => api.getAudience({ project_id, audience_id: demoAudienceId(demo) }),
    () => api.createOptOut({ email: 'someone@kiln-lane.example' }),
  ]
  for (const ask of asked) {
    await ask().catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error
    })
  }
}

/** Sends invalid events, and one duplicate, as pages resend an event when they received no response. */
async function sendRejected(demo: Demo, baseUrl: string, now: Date): Promise<void> {
  const stored = JSON.parse(storedRows(demo, now).at(-1)!) as Record<
    'event_id' | 'event_type',
    string
  > & {
    event_data: object
    cookie_id: string
  }
  const page = { url: 'https://kiln-lane.example/', timestamp: now.toISOString() }
  const faulty = [
    { event_type: 'scroll_depth', event_data: { ...page, percentage: 140, threshold: 100 } },
    { event_type: 'custom', event_data: { ...page, properties: { item: 'mug' } } },
    { event_type: 'add_to_cart', event_data: page },
  ]
  await fetch(`${baseUrl}/e`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: 'https://kiln-lane.example' },
    signal: AbortSignal.timeout(answerMs),
    body: JSON.stringify({
      pixel_id: samplePixelId(demo),
      cookie_id: stored.cookie_id,
      sent_at: now.toISOString(),
      events: [
        ...faulty.map((event) => ({ event_id: randomUUID(), ...event })),
        {
          event_id: stored.event_id,
          event_type: stored.event_type,
          event_data: stored.event_data,
        },
      ],
    }),
  })
}
