import { setTimeout as delay } from 'node:timers/promises'
import { ask, beaconOf, customEvent, postBeacon } from '../harness/api.ts'
import type { Service } from '../harness/service.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { percentile } from './stats.ts'

/** Events a second, and the target for 99 of 100 events. */
const rates = [
  { rate: 10, targetMs: 3_000 },
  { rate: 100, targetMs: 4_000 },
  { rate: 1_000, targetMs: 8_000 },
]
const sendEveryMs = 100
const seconds = 40
const pollMs = 50
const givenUpMs = 60_000

/** From the acknowledgement of an event until the overview counts it, at several rates. */
export async function inFigures({ log }: Bench): Promise<Row[]> {
  const found: Row[] = []
  for (const { rate, targetMs } of rates) {
    const waitedMs = await withService((service) => measureInFigures(service, rate))
    log(`${waitedMs.length} events came into the figures`)
    found.push({
      what: `accepted → in figures at ${rate} events/s, p50 / p99`,
      value: `${percentile(waitedMs, 50).toFixed(0)} / ${percentile(waitedMs, 99).toFixed(0)} ms`,
      target: `p99 ≤ ${targetMs.toLocaleString('en')} ms`,
      detail: `${waitedMs.length} events in ${seconds} s, each from its acknowledgement`,
    })
  }
  return found
}

/** How long events took, milliseconds each, until the overview of their project counted as many. */
async function measureInFigures(service: Service, rate: number): Promise<number[]> {
  const acceptedAt: number[] = []
  const waitedMs: number[] = []
  const before = await countEvents(service)
  const atOnce = (rate * sendEveryMs) / 1_000
  let isSending = true
  const send = async () => {
    const began = performance.now()
    for (let sent = 0; sent < (seconds * 1_000) / sendEveryMs; sent++) {
      const events = Array.from({ length: atOnce }, () => customEvent())
      const answer = await postBeacon(service.url, beaconOf(service, events))
      if (!answer.ok) throw new Error(`a beacon was answered ${answer.status}`)
      for (let n = 0; n < atOnce; n++) acceptedAt.push(performance.now())
      await delay(Math.max(0, began + (sent + 1) * sendEveryMs - performance.now()))
    }
    isSending = false
  }
  const poll = async () => {
    const deadline = performance.now() + seconds * 1_000 + givenUpMs
    while (isSending || waitedMs.length < acceptedAt.length) {
      if (performance.now() > deadline)
        throw new Error(
          `${acceptedAt.length - waitedMs.length} events did not come into the figures`,
        )
      const counted = (await countEvents(service)) - before
      const now = performance.now()
      while (waitedMs.length < counted) waitedMs.push(now - acceptedAt[waitedMs.length]!)
      await delay(pollMs)
    }
  }
  await Promise.all([send(), poll()])
  return waitedMs
}

async function countEvents(service: Service): Promise<number> {
  const answer = await ask(
    service,
    `/api/v1/analytics/overview?project_id=${service.demo.project_id}`,
  )
  if (!answer.ok) throw new Error(`the API answered ${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as { overview: { events: number } }).overview.events
}
