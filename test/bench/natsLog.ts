import { startNatsServers } from '../harness/natsServers.ts'
import type { Service } from '../harness/service.ts'
import { post, warmUp } from './ingest.ts'
import type { Bench, Row } from './rows.ts'
import { untilQuiet, withService } from './service.ts'
import { interleave, median } from './stats.ts'

/** Acknowledgements through three NATS servers on this machine, compared with the spool. */
export async function natsLog(bench: Bench): Promise<Row[]> {
  const nats = await startNatsServers()
  try {
    return await withService((spool) =>
      withService((replicated) => compare(bench, replicated, spool), {
        NATS_URL: nats.urls.join(','),
      }),
    )
  } finally {
    await nats.stop()
  }
}

async function compare(bench: Bench, replicated: Service, spool: Service): Promise<Row[]> {
  const rows: Row[] = []
  for (const events of [1, 50]) {
    for (const service of [replicated, spool])
      await warmUp(bench, service, [service.url], events, false)
    const measure = async (name: string, service: Service) => {
      const { requestsPerSecond } = await post(bench, service, service.url, events, false)
      bench.log(`${name}: ${Math.round(requestsPerSecond * events)} events/s`)
      await untilQuiet(service)
      return requestsPerSecond * events
    }
    const { a, b, ratio } = await interleave(
      bench.repeats,
      () => measure('NATS', replicated),
      () => measure('spool', spool),
    )
    rows.push({
      what: `events of ${events === 1 ? 'one-event beacons' : `batches of ${events}`} acknowledged through NATS ÷ through the spool`,
      value: ratio.toFixed(2),
      target: '≥ 0.50',
      detail: `${Math.round(a)} ÷ ${Math.round(b)} events/s`,
    })
    if (events === 1) rows.push(await compareLatency(bench, replicated, spool, a / 2))
  }
  return rows
}

/** The median time of an acknowledgement at `rate` beacons a second, half of what NATS takes at most. */
async function compareLatency(
  bench: Bench,
  replicated: Service,
  spool: Service,
  rate: number,
): Promise<Row> {
  const p50s = { replicated: [] as number[], spool: [] as number[] }
  for (let round = 0; round < bench.repeats; round++)
    for (const [name, service] of [
      ['replicated', replicated],
      ['spool', spool],
    ] as const) {
      p50s[name].push((await post(bench, service, service.url, 1, false, rate)).p50Ms)
      await untilQuiet(service)
    }
  const [through, direct] = [median(p50s.replicated), median(p50s.spool)]
  return {
    what: 'p50 of an acknowledgement through NATS − through the spool',
    value: `${(through - direct).toFixed(1)} ms`,
    target: '≤ 5 ms',
    detail: `${through.toFixed(1)} − ${direct.toFixed(1)} ms at ${Math.round(rate)} beacons/s`,
  }
}
