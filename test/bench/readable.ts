import { setTimeout as delay } from 'node:timers/promises'
import { beaconOf, customEvent, postBeacon, readRows } from '../harness/api.ts'
import type { Service } from '../harness/service.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'
import { percentile } from './stats.ts'

const events = 300
const sendEveryMs = 50
const pollMs = 10
const givenUpMs = 30_000

/** From the acknowledgement of an event until the API returns it, one event every 50 ms. */
export async function readable({ log }: Bench): Promise<Row> {
  const waitedMs = await withService((service) => measureReadable(service, [service.url]))
  log(`${waitedMs.length} events became readable`)
  return {
    what: 'accepted → readable, p50 / p99',
    value: `${percentile(waitedMs, 50).toFixed(0)} / ${percentile(waitedMs, 99).toFixed(0)} ms`,
    target: 'p99 ≤ 2,000 ms',
    detail: `${waitedMs.length} events, one every ${sendEveryMs} ms`,
  }
}

/** How long events took, milliseconds each, that were sent to collectors in turn, until the service returned them. */
export async function measureReadable(
  service: Service,
  collectorUrls: readonly string[],
): Promise<number[]> {
  const acceptedAt = new Map<string, number>()
  const waitedMs: number[] = []
  let isSending = true

  const send = async () => {
    for (let sent = 0; sent < events; sent++) {
      const event = customEvent({ sent })
      const url = collectorUrls[sent % collectorUrls.length]!
      const answer = await postBeacon(url, beaconOf(service, [event]))
      if (!answer.ok) throw new Error(`a beacon was answered ${answer.status}`)
      acceptedAt.set(event.event_id, performance.now())
      await delay(sendEveryMs)
    }
    isSending = false
  }
  const poll = async () => {
    const deadline = performance.now() + events * sendEveryMs * 2 + givenUpMs
    while (isSending || acceptedAt.size > 0) {
      if (performance.now() > deadline)
        throw new Error(`${acceptedAt.size} events did not become readable`)
      const rows = await readRows(service, { select: 'event_id,ts_millis', limit: '200' })
      const now = performance.now()
      for (const { event_id } of rows) {
        const accepted = acceptedAt.get(event_id as string)
        if (accepted === undefined) continue
        acceptedAt.delete(event_id as string)
        waitedMs.push(now - accepted)
      }
      await delay(pollMs)
    }
  }
  await Promise.all([send(), poll()])
  return waitedMs
}
