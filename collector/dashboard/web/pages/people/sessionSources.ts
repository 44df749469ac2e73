import { api } from '../../api.ts'

/** What an event has of the origin of its session. */
export interface Origin {
  session_id: string
  page_host: string | null
  referrer_host: string | null
  utm_source: string | null
  click_id_type: string | null
}

const directText = 'direct'

/**
 * Reads the sources of a visitor's sessions as figures name them: "from Google", by session. `firsts` has the first
 * known event of each session. Sessions that came alike share one request, which is free.
 */
export async function readSources(
  cookieId: string,
  firsts: readonly Origin[],
  window: { project_id: string; start_ms: number; end_ms: number },
): Promise<ReadonlyMap<string, string>> {
  const byOrigin = new Map<string, Promise<string>>()
  const named = firsts.map(async (first) => {
    const key = keyOf(first)
    if (key === '') return [first.session_id, directText] as const
    const text = byOrigin.get(key) ?? readSource(cookieId, first.session_id, window)
    byOrigin.set(key, text)
    return [first.session_id, await text] as const
  })
  return new Map(await Promise.all(named))
}

/** Equal for events that came alike; empty for those that came directly. */
function keyOf({ utm_source, click_id_type, referrer_host, page_host }: Origin): string {
  const host = referrer_host === page_host ? null : referrer_host
  return [utm_source, click_id_type, host].some(Boolean)
    ? JSON.stringify([utm_source, click_id_type, host])
    : ''
}

async function readSource(
  cookieId: string,
  sessionId: string,
  window: { project_id: string; start_ms: number; end_ms: number },
): Promise<string> {
  const { breakdowns } = await api.getAnalyticsBreakdown({
    ...window,
    dimensions: 'source,channel',
    filter: `cookie_id:eq:${cookieId},session_id:eq:${sessionId}`,
    include_bots: true,
    limit: 1,
  })
  const first = (name: string) => breakdowns[name]?.values[0]?.value
  const [source, channel] = [first('source'), first('channel')]
  if (!source || channel === 'Direct') return directText
  return channel ? `from ${source} · ${channel}` : `from ${source}`
}
