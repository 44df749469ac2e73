import { randomUUID } from 'node:crypto'
import { eventOf, type Row } from '../events/harness.ts'

const dayMs = 86_400_000
const minuteMs = 60_000
/** Days in which visits begin. */
export const daysMade = 5
export const pixels = [randomUUID(), randomUUID()]
const paths = ['/', '/pricing', '/docs', null]

/** Custom events, and others, of which some have unusual names and values. */
const payloads = [
  { url: 'https://shop.example/' },
  { name: 'signup', properties: {} },
  { name: 'signup', properties: { plan: 'team', price: 12.5, of: { id: 1 } } },
  { name: 'buy "now"', properties: { plan: 'a\\b,"c"', price: '7.25' } },
  { name: 'buy "now"', properties: { plan: true, price: 1e21 / 7e18, 'ü"': 'x' } },
  { name: 12, properties: { plan: 9_007_199_254_740_993n.toString(), price: -0.1 } },
  { name: null, properties: null },
  { properties: [1, { plan: 'no' }] },
  { properties: 'text', other: { name: 'x' } },
].map((payload) => JSON.stringify(payload))

/** Visits of a project, at the odd places: around midnight, days long, and half an hour to the millisecond after the last. */
export function visits(
  projectId: string,
  below: (n: number) => number,
  visitors: readonly string[],
  from: number,
): Row[] {
  return visitors.flatMap((cookie_id) => {
    const nearMidnight = from + (1 + below(daysMade)) * dayMs - below(70) * minuteMs
    let at = below(2) === 0 ? nearMidnight : from + below(daysMade * 24 * 60) * minuteMs
    const isRestless = below(8) === 0
    const [isBot, isMixed] = [below(5) === 0, below(3) === 0]
    const length = isRestless ? 110 : 1 + below(12)
    return Array.from({ length }, () => {
      const row = eventOf(at, 0, {
        project_id: projectId,
        cookie_id,
        pixel_id: pixels[at < from + 3 * dayMs ? 0 : below(2)],
        event_type: ['page_view', 'click'][below(2)],
        page_path: paths[below(4)],
        country: ['DE', 'US', null][below(3)],
        device_type: ['desktop', 'mobile'][below(2)],
        page_url: `https://shop.example/${['', '', '', '?utm_source=newsletter'][below(4)]}`,
        referrer_url: ['', '', '', 'https://www.google.de/', 'https://news.example/'][below(5)],
        is_bot: isBot || (isMixed && below(3) === 0),
        event_data: payloads[below(payloads.length)],
      })
      at += isRestless
        ? 29 * minuteMs
        : [1, 7 * minuteMs, 30 * minuteMs - 1, 30 * minuteMs, 9 * 60 * minuteMs][below(5)]!
      return row
    })
  })
}
