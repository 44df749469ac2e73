import { type ChildProcess, spawn } from 'node:child_process'
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
 * How many events arrive that can only be sent while a page closes, by engine and kind of closing. The
 * collector takes 300 ms to answer. A preflight request fails the measurement.
 */
export async function delivery(bench: Bench): Promise<Row[]> {
  const loops = Array.from({ length: bench.busyLoops }, spin)
  try {
    return await measure(bench)
  } finally {
    for (const loop of loops) loop.kill('SIGKILL')
  }
}

/** Not for ever: should this process be killed, nobody else would end it. */
const spinning = 'for (const end = Date.now() + 7_200_000; Date.now() < end; );'

/** A process that takes all of a core that it can get, and ends with this one. */
function spin(): ChildProcess {
  const loop = spawn(process.execPath, ['-e', spinning], { stdio: 'ignore' })
  process.once('exit', () => loop.kill('SIGKILL'))
  return loop
}

async function measure({ departures: times, busyLoops, log }: Bench): Promise<Row[]> {
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
      what: `delivered when the page goes, ${name}${busyLoops > 0 ? `, beside ${busyLoops} busy loops` : ''}`,
      value: `${((100 * count) / most).toFixed(2)} %`,
      target: '≥ 99.5 %',
      detail: `of ${times} each: ${arrived.join(', ')}; no preflights`,
    })
  }
  return rows
}
