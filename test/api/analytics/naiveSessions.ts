import { randomUUID } from 'node:crypto'
import { eventOf, type Row } from '../events/harness.ts'
import { seededNumbers } from './seededNumbers.ts'

/** Visits at random, and a naive look at every event of them: its session, and the fields of that session. */

export const dayMs = 86_400_000
const minuteMs = 60_000
const restMs = 30 * minuteMs

/** How a visitor came, and the fields of a session that begins so. */
interface Origin {
  readonly page?: string
  readonly referrer?: string
  readonly source: string
  readonly channel: string
  readonly utm_campaign?: string
  /** Of another site. */
  readonly referrer_host?: string
}
const origins: readonly Origin[] = [
  { source: 'Direct', channel: 'Direct' },
  { referrer: 'https://shop.example/a', source: 'Direct', channel: 'Direct' },
  { referrer: 'https://help.shop.example/a', source: 'Direct', channel: 'Direct' },
  { referrer: 'https://www.google.com/', source: 'Google', channel: 'Organic search' },
  { referrer: 'https://www.google.de/url?q=', source: 'Google', channel: 'Organic search' },
  { referrer: 'https://www.news.example/x', source: 'news.example', channel: 'Referral' },
  { referrer: 'https://chatgpt.com/', source: 'ChatGPT', channel: 'AI assistants' },
  { referrer: 'https://t.co/x', source: 'X', channel: 'Organic social' },
  {
    page: '?utm_source=newsletter&utm_medium=email&utm_campaign=may',
    source: 'Newsletter',
    channel: 'Email',
    utm_campaign: 'may',
  },
  {
    page: '?utm_source=google&utm_medium=cpc&utm_campaign=shoes',
    referrer: 'https://www.google.com/',
    source: 'Google',
    channel: 'Paid search',
    utm_campaign: 'shoes',
  },
  { page: '?gclid=abc', source: 'Google', channel: 'Paid search' },
  { page: '?utm_source=fb&utm_medium=paid_social', source: 'Facebook', channel: 'Paid social' },
  { page: '?utm_source=Partner&utm_medium=affiliate', source: 'Partner', channel: 'Affiliates' },
  { page: '?utm_medium=banner', source: 'Direct', channel: 'Display' },
]

export interface Seen extends Row {
  event_id: string
  cookie_id: string
  event_type: string
  page_path: string | null
  ts_millis: number
  is_bot: boolean
  country: string | null
  device_type: string
}
const originOf = new WeakMap<Row, Origin>()
const campaignOf = (event: Row) => originOf.get(event)!.page ?? null
const hostOf = (event: Row) => {
  const { referrer } = originOf.get(event)!
  const host = referrer ? new URL(referrer).host : null
  return host?.endsWith('shop.example') ? null : host
}

const paths = ['/', '/pricing', '/docs', '/thanks', null]
const types = ['page_view', 'page_view', 'page_view', 'click', 'form_submission']

/** Events of visitors from a time on, by visitor, oldest first; rows are inserted as they are. */
export function randomVisits(seed: number, visitors: number, from: number): Seen[][] {
  const below = seededNumbers(seed)
  const one = <T>(values: readonly T[]): T => values[below(values.length)]!
  return Array.from({ length: visitors }, () => {
    const [cookie_id, isBot] = [randomUUID(), below(12) === 0]
    let at = from + below(5 * dayMs)
    let isFirst = true
    return Array.from({ length: 1 + below(24) }, () => {
      const origin = isFirst || below(6) === 0 ? one(origins) : origins[below(3)]!
      const page_path = one(paths)
      const event = eventOf(at, 0, {
        cookie_id,
        event_type: one(types),
        page_path,
        page_host: 'shop.example',
        page_url: `https://shop.example${page_path ?? '/'}${origin.page ?? ''}`,
        referrer_url: origin.referrer ?? null,
        country: one(['DE', 'DE', 'US', null]),
        device_type: one(['desktop', 'mobile']),
        is_bot: isBot || below(40) === 0,
        event_data: '{}',
      }) as Seen
      originOf.set(event, origin)
      isFirst = false
      at += one([1, 40, minuteMs, 9 * minuteMs, restMs - 1, restMs, 7 * 60 * minuteMs]) + below(2)
      return event
    })
  })
}

/** A session, with its events before a time. */
export interface Session {
  readonly events: readonly Seen[]
  readonly views: readonly Seen[]
  readonly fields: Readonly<Record<string, string | null>>
}

/** The sessions of a visitor's events, which are oldest first. */
export function sessionsOf(events: readonly Seen[]): Session[] {
  const found: Seen[][] = []
  let [campaign, host]: (string | null)[] = [null, null]
  let began = 0
  let daysBefore = 0
  for (const [index, event] of events.entries()) {
    const before = events[index - 1]
    const isRested = !before || event.ts_millis - before.ts_millis >= restMs
    if (isRested) [began, daysBefore, campaign, host] = [dayOf(event), 0, null, null]
    const days = Math.max(dayOf(event) - began - 1, 0)
    const isMidnight = days > daysBefore
    if (isMidnight) [daysBefore, campaign, host] = [days, null, null]
    const comes = [campaignOf(event), hostOf(event)] as const
    const isNew =
      (comes[0] !== null && comes[0] !== campaign) || (comes[1] !== null && comes[1] !== host)
    if (isRested || isMidnight || isNew) found.push([])
    campaign = comes[0] ?? campaign
    host = comes[1] ?? host
    found.at(-1)!.push(event)
  }
  return found.map((session) => {
    const views = session.filter(isView)
    const [first] = session as [Seen]
    const { source, channel, utm_campaign = null } = originOf.get(first)!
    return {
      events: session,
      views,
      fields: {
        source,
        channel,
        utm_campaign,
        referrer_host: hostOf(first),
        entry_page: views[0]?.page_path ?? null,
        exit_page: views.at(-1)?.page_path ?? null,
        country: first.country,
        device_type: first.device_type,
      },
    }
  })
}

const dayOf = ({ ts_millis }: Seen) => Math.floor(ts_millis / dayMs)
export const isView = ({ event_type }: Seen) => event_type === 'page_view'

/** Groups by a key, in the order of their first members. */
export function groupsBy<Key, Item>(
  items: readonly Item[],
  keyOf: (item: Item) => Key,
): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}
