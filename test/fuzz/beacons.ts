import { isDeepStrictEqual } from 'node:util'
import { type Random, seededRandom } from '../../collector/platform/seededRandom.ts'
import { beaconBytesMax } from '../../schemas/beacon.ts'
import { eventTypeOf } from '../../schemas/captured.ts'
import { ask, postBeacon, type Row } from '../harness/api.ts'
import { waitFor } from '../harness/service.ts'
import { type Fuzzer, type FuzzOptions, hangMs } from './fuzzer.ts'
import { hostileValue, jsonOf, mutate } from './hostile.ts'
import { captured, complete, pickFrom } from './samples.ts'

/** An event that was sent, and how it is found again. */
interface Sent {
  event: Record<string, unknown>
  /** Of complete events. */
  eventId?: string
  /** The path of its URL: nobody else's. */
  path: string
  isMutated: boolean
}

const requestsAtOnce = 4
const readTimeoutMs = 120_000
const faultCharsMax = 2_000

/**
 * Sends beacons of mutated events, and some with a mutated envelope. No answer is 500 or higher or takes 5 s.
 * As many events are accepted and rejected as were sent, and accepted ones are read back unchanged.
 */
export const fuzzBeacons: Fuzzer = async ({ service, seed, count, log }) => {
  const random = seededRandom(seed)
  const faults: string[] = []
  const accepted: Sent[] = []
  const startedAt = Date.now()
  let sent = 0
  let requests = 0

  const send = async () => {
    const events = Array.from({ length: random.integer(1, 24) }, () => newEvent(random, sent++))
    const beacon: Record<string, unknown> = {
      pixel_id: service.demo.pixel_id,
      cookie_id: random.chance(0.1) ? null : random.uuid(),
      sent_at: new Date().toISOString(),
      events: events.map(({ event }) => event),
    }
    const isWhole = !random.chance(0.05)
    if (!isWhole)
      beacon[random.pick(['cookie_id', 'hem', 'hem_source', 'consent', 'sent_at', 'events', 'x'])] =
        hostileValue(random)
    let text = jsonOf(beacon)
    while (Buffer.byteLength(text) > beaconBytesMax && events.length > 1) {
      events.length = Math.ceil(events.length / 2)
      beacon.events = events.map(({ event }) => event)
      text = jsonOf(beacon)
    }
    const headers = random.chance(0.2) ? hostileHeaders(random) : {}
    const about = `request ${++requests}, ${text.length} characters: ${text.slice(0, 300)}`
    const answer = await Promise.race([
      postBeacon(service.url, text, headers).then(async (got) => ({
        status: got.status,
        body: await got.json(),
      })),
      new Promise<null>((resolve) => setTimeout(resolve, hangMs, null)),
    ]).catch((error: Error) => ({ status: 0, body: { error: String(error.cause ?? error) } }))
    if (answer === null) return faults.push(`no answer within ${hangMs} ms: ${about}`)
    const { status, body } = answer as { status: number; body: Receipt }
    if (status === 0 || status >= 500)
      return faults.push(`${status} ${JSON.stringify(body)}: ${about}`)
    if (!isWhole || Buffer.byteLength(text) > beaconBytesMax) return
    if (status !== 200) return faults.push(`${status} ${JSON.stringify(body)}: ${about}`)
    const refused = new Set(body.rejected.map(({ index }) => index))
    if (body.accepted + refused.size !== events.length || refused.size !== body.rejected.length)
      faults.push(
        `${body.accepted} accepted, ${refused.size} rejected of ${events.length}: ${about}`,
      )
    for (const [index, one] of events.entries()) {
      if (!refused.has(index)) accepted.push(one)
      else if (!one.isMutated)
        faults.push(
          `rejected a good event: ${JSON.stringify(body.rejected.find((row) => row.index === index))} ${jsonOf(one.event)}`,
        )
    }
  }

  const work = async () => {
    while (sent < count) {
      await send()
      if (requests % 500 === 0)
        log(`${sent} events sent, ${accepted.length} accepted, ${faults.length} faults`)
    }
  }
  await Promise.all(Array.from({ length: requestsAtOnce }, work))
  log(`${sent} events sent in ${requests} requests, ${accepted.length} accepted; reading them back`)
  faults.push(...(await missing({ service, seed, count, log }, accepted, startedAt)))
  return faults.map((fault) => fault.slice(0, faultCharsMax))
}

interface Receipt {
  accepted: number
  rejected: { index: number; path: string; message: string }[]
}

/** An event as the pixel or a back end sends it, mutated or not. */
function newEvent(random: Random, number: number): Sent {
  const path = `/fuzz/${number}`
  const url = `https://shop.example${path}`
  const timestamp = new Date(Date.now() - random.integer(0, 1000)).toISOString()
  const eventId = random.uuid()
  const isCaptured = random.chance(0.5)
  const event: Record<string, unknown> = isCaptured
    ? capturedEvent(random, { url, at: timestamp })
    : completeEvent(random, eventId, { url, timestamp })
  const isMutated = random.chance(0.7)
  if (isMutated) mutate(random, event)
  return { event, path, isMutated, ...(!isCaptured && { eventId }) }
}

function capturedEvent(random: Random, common: object): Record<string, unknown> {
  const [type, data] = pickFrom(random, captured)
  return { ...common, properties: { shop: 'nl' }, ...data, id: random.next(), type }
}

function completeEvent(random: Random, event_id: string, common: object): Record<string, unknown> {
  const [event_type, data] = pickFrom(random, complete)
  return { event_id, event_type, event_data: { ...data, ...common } }
}

/** Headers that a stranger may send; their bytes are what HTTP allows. */
function hostileHeaders(random: Random): Record<string, string> {
  const text = random.pick(['a', ';', '=', '/', '(', 'Mozilla/5.0 ', 'footfall=', '%', '&'])
  const value = text.repeat(random.integer(1, Math.floor(8_000 / text.length)))
  return { [random.pick(['user-agent', 'cookie', 'referer', 'origin', 'x-forwarded-for'])]: value }
}

/** Waits until what was accepted can be read; answers what is missing, or not as it was sent. */
async function missing(
  { service, log }: FuzzOptions,
  accepted: Sent[],
  startedAt: number,
): Promise<string[]> {
  const expected = accepted.filter(isStored)
  let found: Found[] = []
  await waitFor(
    'the accepted events',
    async () => {
      const rows = await readAll(service, startedAt)
      found = matched(expected, rows)
      log(`${found.filter(({ row }) => row).length} of ${expected.length} read back`)
      return (
        found.every(({ row }) => row) || new Promise((resolve) => setTimeout(resolve, 1_000, false))
      )
    },
    readTimeoutMs,
  ).catch(() => {})
  return found.flatMap(({ sent, row }) => {
    if (!row) return [`accepted and never read: ${jsonOf(sent.event)}`]
    const wrong = difference(sent, row)
    return wrong ? [`${wrong}: sent ${jsonOf(sent.event)}, read ${row.event_data}`] : []
  })
}

interface Found {
  sent: Sent
  row: Row | undefined
}

function matched(expected: Sent[], rows: Row[]): Found[] {
  const byId = new Map(rows.map((row) => [row.event_id, row]))
  const byPath = new Map(rows.map((row) => [`${row.page_path} ${row.event_type}`, row]))
  return expected.map((sent) => ({
    sent,
    row: sent.eventId
      ? byId.get(sent.event.event_id as string)
      : byPath.get(`${sent.path} ${eventTypeOf[sent.event.type as keyof typeof eventTypeOf]}`),
  }))
}

/**
 * Accepted events without their own row: those that name a person, or are the sound or the end of a video.
 */
function isStored({ event, path, eventId }: Sent): boolean {
  if (eventId) return typeof event.event_id === 'string'
  // An auxclick is an event where it is on a link alone.
  if (event.type === 'identify' || event.type === 'pause' || event.type === 'auxclick') return false
  const tag = (event.element as { tag?: unknown } | undefined)?.tag
  if (event.element && tag !== 'video') return false
  // Media are events where they are videos.
  const isMedia = ['play', 'timeupdate', 'ended'].includes(event.type as string)
  if (isMedia && (event.path as { tag?: unknown }[] | undefined)?.[0]?.tag !== 'video') return false
  return event.url === `https://shop.example${path}`
}

/** All events that came in since a time, page by page. */
async function readAll(service: FuzzOptions['service'], startedAt: number): Promise<Row[]> {
  const rows: Row[] = []
  let cursor = ''
  do {
    const query = new URLSearchParams({
      start_ms: String(startedAt - 60_000),
      end_ms: String(Date.now() + 60_000),
      limit: '10000',
      select: 'event_id,event_type,event_data,page_path',
      ...(cursor && { cursor }),
    })
    const answer = await ask(service, `/api/v3/events/web_event?${query}`)
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    const page = (await answer.json()) as { rows: Row[]; meta: { next_cursor?: string } }
    rows.push(...page.rows)
    cursor = page.meta.next_cursor ?? ''
  } while (cursor)
  return rows
}

/** What of an event did not come back as it was sent; undefined when all did. */
function difference({ event, eventId }: Sent, row: Row): string | undefined {
  const text = row.event_data as string
  const stored = JSON.parse(text)
  // Of two names that become one, the last is kept, as JSON has it.
  const kept = event.event_data ?? (event.type === 'track' ? event.properties : undefined) ?? {}
  const digits = /@digits:(\d+)@/.exec(JSON.stringify(wellFormed(kept)))?.[1]
  if (digits && !text.includes(digits)) return `digits ${digits} are lost`
  if (!eventId) {
    if (stored.timestamp !== event.at) return 'another timestamp'
    return
  }
  const given = wellFormed(JSON.parse(jsonOf(event.event_data)))
  return isDeepStrictEqual(withoutQueries(stored), withoutQueries(given))
    ? undefined
    : 'not as sent'
}

/** As texts are stored: without halves of characters, and without U+0000. */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '\ufffd')
  if (Array.isArray(value)) return value.map(wellFormed)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([key, part]) => [
    wellFormed(key) as string,
    wellFormed(part),
  ])
  return Object.fromEntries(entries)
}

/** URLs lose their secrets on the way: of texts, what stands before a query is compared. */
function withoutQueries(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, part) =>
    typeof part === 'string' ? part.split(/[?&;#]/, 1)[0] : part,
  )
}
