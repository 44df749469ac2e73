import { setTimeout as delay } from 'node:timers/promises'
import { serviceProcesses } from './processes.ts'
import { type ScenarioOptions, type ScenarioResult, withLoad } from './scenario.ts'

export interface SoakOptions extends ScenarioOptions {
  minutes: number
  /** Events a second, one in a beacon. */
  rate: number
  /** A line of measurements every so often. */
  intervalMs?: number
}

export interface SoakResult extends ScenarioResult {
  /** Straight line through the samples after the first quarter: growth an hour. */
  rssMiBPerHour: number
  ackP50MsPerHour: number
  ackP99MsPerHour: number
  /** Means over the samples that the line was drawn through. */
  rssMiB: number
  ackP50Ms: number
  ackP99Ms: number
}

interface Sample {
  hours: number
  rssMiB: number
  ackP50Ms: number
  ackP99Ms: number
}

/** Sends at a steady rate for a long time and tells whether memory and ack time stay flat. */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { minutes, rate, intervalMs = 60_000, log } = options
  return withLoad({ ...options, load: { rate, connections: 16 } }, async (service, sender) => {
    const samples: Sample[] = []
    for (let elapsedMs = 0; elapsedMs < minutes * 60_000; ) {
      sender.ackMicros.reset()
      await delay(intervalMs)
      elapsedMs = Date.now() - sender.startedAt
      const processes = serviceProcesses(service.process.pid!).map(
        ({ rssBytes }) => rssBytes / 1024 ** 2,
      )
      const sample = {
        hours: elapsedMs / 3_600_000,
        rssMiB: processes.reduce((sum, rss) => sum + rss, 0),
        ackP50Ms: sender.ackMicros.percentile(50) / 1000,
        ackP99Ms: sender.ackMicros.percentile(99) / 1000,
      }
      samples.push(sample)
      log(
        `${(elapsedMs / 60_000).toFixed(1)} min: MiB ${processes.map((rss) => rss.toFixed(0)).join(' + ')}, ` +
          `ack p50 ${sample.ackP50Ms.toFixed(2)} ms, p99 ${sample.ackP99Ms.toFixed(2)} ms, ` +
          `${sender.acknowledged} acknowledged, ${sender.waiting} waiting`,
      )
    }
    // The first quarter is a warm-up: caches fill, and V8 compiles.
    const settled = samples.slice(Math.floor(samples.length / 4))
    return {
      rssMiBPerHour: slope(settled, 'rssMiB'),
      ackP50MsPerHour: slope(settled, 'ackP50Ms'),
      ackP99MsPerHour: slope(settled, 'ackP99Ms'),
      rssMiB: mean(settled, 'rssMiB'),
      ackP50Ms: mean(settled, 'ackP50Ms'),
      ackP99Ms: mean(settled, 'ackP99Ms'),
    }
  })
}

const mean = (samples: readonly Sample[], key: keyof Sample): number =>
  samples.reduce((sum, sample) => sum + sample[key], 0) / samples.length

/** Least squares: how much `key` grows an hour. */
function slope(samples: readonly Sample[], key: keyof Sample): number {
  const [hours, values] = [mean(samples, 'hours'), mean(samples, key)]
  const covariance = samples.reduce(
    (sum, one) => sum + (one.hours - hours) * (one[key] - values),
    0,
  )
  const variance = samples.reduce((sum, one) => sum + (one.hours - hours) ** 2, 0)
  return variance === 0 ? 0 : covariance / variance
}
