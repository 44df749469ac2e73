import type { ValidEvent } from '../../ingest/normalize/validateEvent.ts'
import { dayMs } from '../../platform/days.ts'
import { type Random, seededRandom } from '../../platform/seededRandom.ts'
import { type SampleEvent, sampleEvent } from '../sandbox/sampleTraffic.ts'
import type { SampleVisitor } from '../sandbox/sampleVisitors.ts'

/** The share of page views with measurements, so that they do not outnumber what visitors do. */
const measuredShare = 0.2
/** Different random numbers than the visits of the same day. */
const seedOffset = 1_000_000

type Metric = 'LCP' | 'INP' | 'CLS' | 'FCP' | 'TTFB'

/** The medians of each page, on a desktop: milliseconds, and no unit for CLS. */
type Medians = readonly [lcp: number, inp: number, cls: number]

/** The catalogue shows many pictures, and the page about the shop a video. */
const mediansByPath: Readonly<Record<string, Medians>> = {
  '/': [1_250, 70, 0.02],
  '/catalogue': [2_150, 110, 0.1],
  '/product': [1_600, 90, 0.04],
  '/search': [1_100, 170, 0.03],
  '/about': [2_000, 60, 0.02],
  '/checkout': [950, 150, 0.01],
  '/thanks': [800, 50, 0.005],
}

/** The limits of "good" and "poor" (web.dev/articles/vitals), which the pixel reports as a rating. */
const limits: Readonly<Record<Metric, readonly [good: number, poor: number]>> = {
  LCP: [2_500, 4_000],
  INP: [200, 500],
  CLS: [0.1, 0.25],
  FCP: [1_800, 3_000],
  TTFB: [800, 1_800],
}

const phoneFactor = 1.35

/** Returns the measurements of a day's page views by people, as their browsers would report them. */
export function planVitals(dayNumber: number, events: readonly SampleEvent[]): SampleEvent[] {
  const random = seededRandom(dayNumber + seedOffset)
  const endMs = (dayNumber + 1) * dayMs
  return events
    .filter(({ visitor, event }) => event.event_type === 'page_view' && !visitor.isBot)
    .filter(() => random.chance(measuredShare))
    .flatMap(({ visitor, event }) => {
      const { url } = event.event_data
      const values = measure(random, visitor, new URL(url).pathname)
      // The browser reports when the page is hidden, after the largest element was painted.
      const at = event.sentMillis + Math.ceil(values.LCP)
      return browserMetrics(visitor)
        .map((name, index) => ({
          visitor,
          event: vitalEvent(random, url, at + index, name, values[name]),
        }))
        .filter(({ event }) => event.sentMillis + 1_000 < endMs)
    })
    .sort((a, b) => a.event.sentMillis - b.event.sentMillis)
}

/** The metrics that a browser measures: Safari has neither LCP, INP nor CLS, and Firefox no CLS. */
function browserMetrics({ userAgent }: SampleVisitor): readonly Metric[] {
  if (userAgent.includes('Chrome/')) return ['TTFB', 'FCP', 'LCP', 'INP', 'CLS']
  return userAgent.includes('Firefox/') ? ['TTFB', 'FCP', 'LCP', 'INP'] : ['TTFB', 'FCP']
}

function measure(random: Random, visitor: SampleVisitor, path: string): Record<Metric, number> {
  const [lcp, inp, cls] = mediansByPath[path] ?? mediansByPath['/']!
  const device = visitor.viewport.width < 600 ? phoneFactor : 1
  const LCP = around(random, lcp * device, 0.4)
  const FCP = LCP * (0.55 + 0.35 * random.next())
  return {
    LCP: rounded(LCP, 1),
    INP: Math.round(around(random, inp * device, 0.5) / 8) * 8,
    CLS: random.chance(0.3) ? 0 : rounded(around(random, cls * device, 0.7), 4),
    FCP: rounded(FCP, 1),
    TTFB: rounded(FCP * (0.2 + 0.3 * random.next()), 1),
  }
}

/** Returns a random value with this median; its logarithm has a normal distribution. */
function around(random: Random, median: number, deviation: number): number {
  const normal = Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
  return median * Math.exp(deviation * normal)
}

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits))

function vitalEvent(
  random: Random,
  url: string,
  at: number,
  name: Metric,
  value: number,
): ValidEvent {
  const [good, poor] = limits[name]
  const rating = value <= good ? 'good' : value > poor ? 'poor' : 'needs-improvement'
  return sampleEvent(random, at, url, 'custom', {
    name: 'web_vitals',
    properties: { name, value, rating },
  })
}
