import { setTimeout as delay } from 'node:timers/promises'
import { ask } from '../harness/api.ts'
import type { Service } from '../harness/service.ts'
import type { Sender } from './sender.ts'

/** Acknowledged events, compared with the API. */
export interface Audit {
  acknowledged: number
  returned: number
  /** Acknowledged events that the API does not return. */
  lost: number
  /** Events that the API returns more than once. */
  doubled: number
  /** Events returned with other properties than they were sent with. */
  altered: number
  /** Rows and different events, as the counts route says. */
  counted: { total: number; distinct: number }
  /** Event ids of the first lost, doubled and altered ones. */
  examples: string[]
}

interface EventsPage {
  rows: { event_id: string; event_data: string }[]
  meta: { next_cursor?: string }
}

interface Counts {
  total: number
  counts: { distinct: number }[]
}

const pageRows = 10_000
const examplesMax = 10
/** Slow browser clocks are corrected, but not to the millisecond; and nothing is in the future. */
const windowBeforeMs = 4 * 3_600_000

const windowOf = (sender: Sender) => ({
  start_ms: String(sender.startedAt - windowBeforeMs),
  end_ms: String(Date.now() + 60_000),
})

/** How many rows the API counts since the sender began; undefined while it cannot say. */
export const countRows = async (service: Service, sender: Sender): Promise<number | undefined> =>
  (await askCounts(service, sender, {}))?.total

/** Rows and different events; for millions of them this takes a while. */
async function countDistinct(
  service: Service,
  sender: Sender,
): Promise<{ total: number; distinct: number } | undefined> {
  const answer = await askCounts(service, sender, { distinct: 'event_id' })
  return answer && { total: answer.total, distinct: answer.counts[0]?.distinct ?? 0 }
}

async function askCounts(
  service: Service,
  sender: Sender,
  more: Record<string, string>,
): Promise<Counts | undefined> {
  const query = new URLSearchParams({ ...windowOf(sender), ...more })
  try {
    const answer = await ask(service, `/api/v3/events/web_event/counts?${query}`)
    return answer.ok ? ((await answer.json()) as Counts) : undefined
  } catch {
    return undefined
  }
}

/**
 * Waits until the API counts as many different events as were acknowledged. Gives up if the count did not
 * change for `stillMs`; the audit then decides.
 */
export async function waitUntilShipped(
  service: Service,
  sender: Sender,
  stillMs = 60_000,
): Promise<void> {
  let most = -1
  for (let movedAt = Date.now(); Date.now() - movedAt < stillMs; await delay(200)) {
    const distinct = (await countDistinct(service, sender))?.distinct ?? 0
    if (distinct >= sender.acknowledged) return
    if (distinct > most) {
      most = distinct
      movedAt = Date.now()
    }
  }
}

/**
 * Reads all pages of the API and compares them with the acknowledged events. With several processes of the
 * API each page comes from the next one.
 */
export async function audit(
  service: Service,
  sender: Sender,
  others: readonly Service[] = [],
): Promise<Audit> {
  const times = new Uint8Array(sender.made)
  const found: Audit = {
    acknowledged: sender.acknowledged,
    returned: 0,
    lost: 0,
    doubled: 0,
    altered: 0,
    counted: (await countDistinct(service, sender)) ?? { total: Number.NaN, distinct: Number.NaN },
    examples: [],
  }
  const note = (kind: 'lost' | 'doubled' | 'altered', eventId: string) => {
    found[kind]++
    if (found.examples.length < examplesMax) found.examples.push(`${kind} ${eventId}`)
  }

  for await (const { event_id, event_data } of returnedRows([service, ...others], sender)) {
    if (!event_id.startsWith(sender.idPrefix)) continue
    found.returned++
    const n = Number.parseInt(event_id.slice(sender.idPrefix.length), 16)
    times[n]!++
    if (times[n] === 2) note('doubled', event_id)
    const { properties } = JSON.parse(event_data) as { properties: { run: string; n: number } }
    if (properties.n !== n || properties.run !== sender.run) note('altered', event_id)
  }
  for (let n = 0; n < sender.made; n++) {
    if (times[n] === 0 && sender.isAcknowledged(n)) {
      note('lost', `${sender.idPrefix}${n.toString(16).padStart(12, '0')}`)
    }
  }
  return found
}

async function* returnedRows(services: readonly Service[], sender: Sender) {
  const window = windowOf(sender)
  for (let [page, cursor]: [number, string | undefined] = [0, '']; cursor !== undefined; page++) {
    const service = services[page % services.length]!
    const query: Record<string, string> = cursor === '' ? window : { cursor }
    const parameters = new URLSearchParams({
      ...query,
      select: 'event_id,ts_millis,event_data',
      limit: String(pageRows),
    })
    const answer = await ask(service, `/api/v3/events/web_event?${parameters}`)
    if (!answer.ok) throw new Error(`the API answered ${answer.status} ${await answer.text()}`)
    const { rows, meta } = (await answer.json()) as EventsPage
    yield* rows
    cursor = meta.next_cursor
  }
}
