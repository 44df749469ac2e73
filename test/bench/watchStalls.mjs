/**
 * Loaded into the service's processes, and into the floor. On SIGUSR2 a worker, or the floor, writes the
 * longest stall of its event loop since the last time, in milliseconds (stalls.ts).
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
