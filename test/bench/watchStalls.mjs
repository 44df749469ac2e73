/**
 * Loaded into the service's processes: a worker writes down how long its event loop stood still at most, milliseconds,
 * since it was last asked, when it gets SIGUSR2 (stalls.ts).
 */
import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

const resolutionMs = 1

if (process.argv[1]?.endsWith('/worker.js')) {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  delays.enable()
  process.on('SIGUSR2', () => {
    writeFileSync(process.env.BENCH_STALLS, `${delays.max / 1e6 - resolutionMs}\n`)
    delays.reset()
  })
}
