import { departures, measureDelivery } from '../pixel/engines/departures.ts'
import type { Engine } from '../pixel/engines/engine.ts'
import { startChromium, startFirefox } from '../pixel/engines/puppeteer.ts'
import { openStage } from '../pixel/engines/stage.ts'
import { startWebKit } from '../pixel/engines/webkit.ts'
import type { Bench, Row } from './rows.ts'

const engines: Record<string, () => Promise<Engine>> = {
  Chromium: startChromium,
  Firefox: startFirefox,
  WebKit: startWebKit,
}

/**
 * Of the events that only a page's leaving can send, how many arrive, by engine and way of leaving; the collector takes
 * 300 ms to answer. A preflight request fails the measurement.
 */
export async function delivery({ departures: times, log }: Bench): Promise<Row[]> {
  const rows: Row[] = []
  for (const [name, start] of Object.entries(engines)) {
    const stage = await openStage(start)
    const arrived: string[] = []
    let count = 0
    try {
      for (const departure of departures) {
        log(`  ${name}, ${departure}`)
        await stage.perform(async (page) => {
          const { arrived: these } = await measureDelivery(page, departure, times)
          count += these.length
          arrived.push(`${departure} ${these.length}`)
        })
      }
    } finally {
      await stage.close()
    }
    const most = times * departures.length
    rows.push({
      what: `delivered when the page goes, ${name}`,
      value: `${((100 * count) / most).toFixed(2)} %`,
      target: '≥ 99.5 %',
      detail: `of ${times} each: ${arrived.join(', ')}; no preflights`,
    })
  }
  return rows
}
