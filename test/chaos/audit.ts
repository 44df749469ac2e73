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
  /** Figures of the overview, within minutes, and those of the returned events. */
  figures: Figures
  expected: Figures
  /** Event ids of the first lost, doubled and altered ones. */
  examples: string[]
}

export interface Figures {
  events: number
  sessions: number
}

interface EventsPage {
  rows: {
    event_id: string
    event_data: string
    ts_millis: number
    cookie_id: string
    is_bot: boolean
  }[]
  meta: { next_cursor?: string }
}

interface Counts {
  total: number
  counts: { distinct: number }[]
}

const pageRows = 10_000
/** A rest of this time ends a session. */
const restMs = 30 * 60_000
/** Events of a killed process are in the figures after the next repair or comparison. */
const figuresMs = 180_000
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
 * Waits until the API counts as many different events as were acknowledged since the sender began. Gives up if the count did not
 * change for `stillMs`; the audit then decides.
 */
export async function waitUntilShipped(
  service: Service,
  sender: Sender,
  { stillMs = 60_000, acknowledged = sender.acknowledged } = {},
): Promise<void> {
  let most = -1
  for (let movedAt = Date.now(); Date.now() - movedAt < stillMs; await delay(200)) {
    const distinct = (await countDistinct(service, sender))?.distinct ?? 0
    if (distinct >= acknowledged) return
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
    figures: { events: Number.NaN, sessions: Number.NaN },
    expected: { events: 0, sessions: 0 },
    examples: [],
  }
  const visits = new Map<string, number[]>()
  const note = (kind: 'lost' | 'doubled' | 'altered', eventId: string) => {
    found[kind]++
    if (found.examples.length < examplesMax) found.examples.push(`${kind} ${eventId}`)
  }

  for await (const row of returnedRows([service, ...others], sender)) {
    const { event_id, event_data } = row
    const visitor = `${row.cookie_id} ${row.is_bot}`
    const seen = visits.get(visitor)
    if (seen) seen.push(row.ts_millis)
    else visits.set(visitor, [row.ts_millis])
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
  const ofVisitors = [...visits.values()]
  found.expected = {
    events: ofVisitors.reduce((sum, { length }) => sum + length, 0),
    sessions: ofVisitors.reduce((sum, each) => sum + countSessions(each), 0),
  }
  found.figures = await readFigures(service, sender, found.expected)
  return found
}

/** Sessions of one visitor without campaigns and referrers. */
const countSessions = (times: readonly number[]): number =>
  times
    .toSorted((one, other) => one - other)
    .filter((at, index, all) => index === 0 || at - all[index - 1]! >= restMs).length

/** Reads the overview until it says what is expected, or for `figuresMs`. */
async function readFigures(service: Service, sender: Sender, expected: Figures): Promise<Figures> {
  const query = new URLSearchParams({ ...windowOf(sender), include_bots: 'true' })
  for (const endAt = Date.now() + figuresMs; ; await delay(1_000)) {
    const answer = await ask(service, `/api/v1/analytics/overview?${query}`)
    if (!answer.ok) throw new Error(`the overview answered ${answer.status} ${await answer.text()}`)
    const { events, sessions } = ((await answer.json()) as { overview: Figures }).overview
    const isRight = events === expected.events && sessions === expected.sessions
    if (isRight || Date.now() > endAt) return { events, sessions }
  }
}

async function* returnedRows(services: readonly Service[], sender: Sender) {
  const window = windowOf(sender)
  for (let [page, cursor]: [number, string | undefined] = [0, '']; cursor !== undefined; page++) {
    const service = services[page % services.length]!
    const query: Record<string, string> = cursor === '' ? window : { cursor }
    const parameters = new URLSearchParams({
      ...query,
      select: 'event_id,ts_millis,event_data,cookie_id,is_bot',
      limit: String(pageRows),
    })
    const answer = await ask(service, `/api/v3/events/web_event?${parameters}`)
    if (!answer.ok) throw new Error(`the API answered ${answer.status} ${await answer.text()}`)
    const { rows, meta } = (await answer.json()) as EventsPage
    yield* rows
    cursor = meta.next_cursor
  }
}
