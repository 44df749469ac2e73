/**
 * Loaded into the service's processes, and into the floor: a worker, or the floor, writes down how long its event loop
 * stood still at most, milliseconds, since it was last asked, when it gets SIGUSR2 (stalls.ts).
 */
import { writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

const resolutionMs = 1

if (/\/(worker|floor)\.js$/.test(process.argv[1] ?? '')) {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs })
  delays.enable()
  process.on('SIGUSR2', () => {
    writeFileSync(process.env.BENCH_STALLS, `${delays.max / 1e6 - resolutionMs}\n`)
    delays.reset()
  })
}
