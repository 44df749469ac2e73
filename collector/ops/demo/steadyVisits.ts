import type { ValidEvent } from '../../ingest/normalize/validateEvent.ts'
import { type Random, seededRandom } from '../../platform/seededRandom.ts'
import type { SampleEvent } from '../sandbox/sampleTraffic.ts'
import { type SampleVisitor, sampleVisitors } from '../sandbox/sampleVisitors.ts'

const dayMs = 86_400_000
const minuteMs = 60_000
/** A visit begins at least this often, at night, too. */
const visitEveryMs = 30 * minuteMs
/** Longest pause between two page views of a visit, and before the next visit. */
const pauseMaxMs = 5 * minuteMs
/** Different random numbers than the other visits of the same day. */
const seedOffset = 2_000_000

const site = 'https://kiln-lane.example'
/** The pages that somebody reads slowly, with their titles. */
const pages = [
  ['/', 'Kiln Lane: stoneware for every day'],
  ['/catalogue', 'All pots · Kiln Lane'],
  ['/about', 'About · Kiln Lane'],
  ['/product?item=mug', 'mug · Kiln Lane'],
  ['/product?item=bowl', 'bowl · Kiln Lane'],
  ['/product?item=teapot', 'teapot · Kiln Lane'],
] as const
const entrances = [null, 'https://www.google.com/', 'https://pottery-weekly.example/ten-mugs']

const people = sampleVisitors.filter(({ isBot }) => !isBot)

/**
 * Returns the page views of people who read slowly, one after another all day. With them the demo has somebody on its
 * site at every minute, and its latest event is never older than a few minutes.
 */
export function planSteadyVisits(dayNumber: number): SampleEvent[] {
  const random = seededRandom(dayNumber + seedOffset)
  const startMs = dayNumber * dayMs
  const events: SampleEvent[] = []
  for (let atMs = startMs; atMs < startMs + dayMs; atMs += visitEveryMs)
    events.push(...walk(random, random.pick(people), atMs))
  return events
}

function walk(random: Random, visitor: SampleVisitor, startMs: number): SampleEvent[] {
  const events: SampleEvent[] = []
  let referrer = random.pick(entrances)
  let atMs = startMs + random.integer(0, minuteMs)
  while (atMs < startMs + visitEveryMs) {
    // Most visits of the demo begin at its home page.
    const [path, title] = events.length === 0 ? pages[0] : random.pick(pages)
    const url = site + path
    events.push({ visitor, event: pageView(random, visitor, { url, title, referrer, atMs }) })
    referrer = url
    atMs += random.integer(4 * minuteMs, pauseMaxMs)
  }
  return events
}

function pageView(
  random: Random,
  { screen, viewport }: SampleVisitor,
  page: { url: string; title: string; referrer: string | null; atMs: number },
): ValidEvent {
  const { url, title, referrer, atMs } = page
  const timestamp = new Date(atMs).toISOString()
  return {
    event_id: random.uuid(),
    event_type: 'page_view',
    event_data: { title, referrer, screen, viewport, url, timestamp },
    sentMillis: atMs,
  } as unknown as ValidEvent
}
