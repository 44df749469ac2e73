import { waitFor } from '../../harness/service.ts'
import type { Stage } from './stage.ts'

/** How a page goes: the visitor clicks a link, looks at another tab, a script navigates, the tab is closed. */
export const departures = ['click', 'hidden', 'pagehide', 'close'] as const
export type Departure = (typeof departures)[number]

/** Response time of the collector, in milliseconds. */
const answerDelayMs = 300
/** Events that have not arrived so long after the page closed are lost. */
const lostAfterMs = 5000

export interface Delivery {
  /** The numbers of the pages that were closed with a new event. */
  left: number[]
  /** Of these, the ones whose event arrived. */
  arrived: number[]
}

/** Leaves a page `times` times, each with an event that only its leaving can send. */
export async function measureDelivery(
  stage: Stage,
  departure: Departure,
  times: number,
): Promise<Delivery> {
  const { receiver } = stage
  // Nothing that storage kept for a next page may help.
  stage.put('/left', { pixel: false, head: '<script>localStorage.clear()</script>' })
  stage.put('/page', { body: '<a href="/left">leave</a>' })
  receiver.state.answerDelayMs = answerDelayMs
  const left = Array.from({ length: times }, (_, n) => n)
  const hasArrived = (n: number) =>
    receiver
      .events(departure === 'click' ? 'click' : 'custom')
      .some(({ event_data }) => new URL(event_data.url).search === `?${n}`)
  for (const n of left) {
    const own = departure === 'close' ? await stage.another() : stage
    try {
      await own.visit(`/page?${n}`)
      await leave(own, departure)
      // These pages are still there, or their browser is: it must not be taken away too soon.
      if (departure === 'hidden' || departure === 'close')
        await waitFor('the event', () => hasArrived(n), lostAfterMs).catch(() => {})
    } finally {
      if (departure === 'close') await own.tab.dispose()
      if (departure === 'hidden') await own.tab.show()
    }
  }
  await waitFor('all events', () => left.every(hasArrived), lostAfterMs).catch(() => {})
  return { left, arrived: left.filter(hasArrived) }
}

async function leave({ tab, pageSays }: Stage, departure: Departure): Promise<void> {
  if (departure === 'click') {
    await tab.click('a')
    return pageSays(`location.pathname === '/left'`)
  }
  // Without timers there is no later.
  await tab.evaluate(
    `window.setTimeout = window.requestIdleCallback = () => 0; footfall('track', 'left')`,
  )
  if (departure === 'hidden') {
    await tab.hide()
  } else if (departure === 'close') {
    await tab.close()
  } else {
    await tab.evaluate(`location.assign('/left')`)
    await pageSays(`location.pathname === '/left'`)
  }
}
