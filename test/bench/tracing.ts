import type { Browser, Page } from 'playwright-core'

/** An event of Chrome's trace format; times in microseconds, those of the thread itself in `tdur`. */
interface TraceEvent {
  name: string
  ph: string
  pid: number
  tid: number
  ts: number
  dur?: number
  tdur?: number
}

/** Time that the main thread of a page spent on scripts. */
export interface Cost {
  /** Thread time in scripts and what calls them, at whatever speed the CPU was emulated. */
  ms: number
  /** Layouts that a script forced, for it read what it or the page had changed. */
  forcedLayouts: number
}

/** Script itself, and what browsers do to call it. */
const scriptWork = new Set([
  'EvaluateScript',
  'v8.compile',
  'v8.evaluateModule',
  'FunctionCall',
  'RunMicrotasks',
  'EventDispatch',
  'TimerFire',
  'FireIdleCallback',
  'FireAnimationFrame',
])
const layoutWork = new Set(['Layout', 'UpdateLayoutTree'])

/** Identity of the page in the trace: browsers have their own pages, whose scripts do not count. */
const traceMark = 'footfall traced'

/** Traces what a page does while `work` runs. */
export async function traced(
  browser: Browser,
  page: Page,
  work: () => Promise<void>,
): Promise<Cost> {
  await browser.startTracing(page, { categories: ['devtools.timeline', 'v8', 'blink.user_timing'] })
  let json: Buffer
  try {
    await work()
    await page.evaluate((mark) => performance.mark(mark), traceMark)
  } finally {
    json = await browser.stopTracing()
  }
  return costOf((JSON.parse(json.toString()) as { traceEvents: TraceEvent[] }).traceEvents)
}

/** Adds up the outermost of the events that are script work; those inside them are part of it. */
function costOf(events: readonly TraceEvent[]): Cost {
  const threads = new Set(events.filter(({ name }) => name === traceMark).map(threadOf))
  if (threads.size === 0) throw new Error('the trace does not say which thread is the page’s')
  const complete = events
    .filter((event) => event.ph === 'X' && threads.has(threadOf(event)))
    .sort((one, other) => one.ts - other.ts || (other.dur ?? 0) - (one.dur ?? 0))
  const cost = { ms: 0, forcedLayouts: 0 }
  const ends = new Map<string, number>()
  for (const event of complete) {
    const thread = threadOf(event)
    const isInside = event.ts < (ends.get(thread) ?? 0)
    if (layoutWork.has(event.name) && isInside)
      cost.forcedLayouts += event.name === 'Layout' ? 1 : 0
    if (!scriptWork.has(event.name) || isInside) continue
    cost.ms += (event.tdur ?? event.dur ?? 0) / 1000
    ends.set(thread, event.ts + (event.dur ?? 0))
  }
  return cost
}

const threadOf = ({ pid, tid }: TraceEvent): string => `${pid}:${tid}`
