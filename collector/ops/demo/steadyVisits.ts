import type { ValidEvent } from '../../ingest/normalize/validateEvent.ts'
import { type Random, seededRandom } from '../../platform/seededRandom.ts'
import type { SampleEvent } from '../sandbox/sampleTraffic.ts'
import { type SampleVisitor, sampleVisitors } from '../sandbox/sampleVisitors.ts'

const dayMs = 86_400_000
const minuteMs = 60_000
/** A visit begins in the first minute of each of these slots, at night, too. */
const visitEveryMs = 10 * minuteMs
/** Different random numbers than the other visits of the same day. */
const seedOffset = 2_000_000

const site = 'https://kiln-lane.example'
const home = ['/', 'Kiln Lane: stoneware for every day'] as const
/** The pages that visitors go on to, with their titles. */
const pages = [
  ['/catalogue', 'All pots · Kiln Lane'],
  ['/about', 'About · Kiln Lane'],
  ['/product?item=mug', 'mug · Kiln Lane'],
  ['/product?item=bowl', 'bowl · Kiln Lane'],
  ['/product?item=teapot', 'teapot · Kiln Lane'],
] as const
const entrances = [null, 'https://www.google.com/', 'https://pottery-weekly.example/ten-mugs']

const people = sampleVisitors.filter(({ isBot }) => !isBot)

/**
 * Returns the page views of short visits, one after another all day. With them the demo has somebody on its site at every
 * hour.
 */
export function planSteadyVisits(dayNumber: number): SampleEvent[] {
  const random = seededRandom(dayNumber + seedOffset)
  const startMs = dayNumber * dayMs
  const events: SampleEvent[] = []
  for (let atMs = startMs; atMs < startMs + dayMs; atMs += visitEveryMs)
    events.push(...walk(random, random.pick(people), atMs + random.integer(0, minuteMs)))
  return events
}

/** From the home page to up to three more, less than a minute on each. */
function walk(random: Random, visitor: SampleVisitor, startMs: number): SampleEvent[] {
  const events: SampleEvent[] = []
  let referrer = random.pick(entrances)
  let atMs = startMs
  const further = Array.from({ length: random.integer(0, 3) }, () => random.pick(pages))
  for (const [path, title] of [home, ...further]) {
    const url = site + path
    events.push({ visitor, event: pageView(random, visitor, { url, title, referrer, atMs }) })
    referrer = url
    atMs += random.integer(15_000, 55_000)
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
