import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { waitFor } from '../harness/service.ts'
import { fillDisk, mountDisk } from '../harness/smallDisk.ts'
import { serviceProcesses } from './processes.ts'
import { type ScenarioOptions, type ScenarioResult, withLoad } from './scenario.ts'

export interface DiskFullResult extends ScenarioResult {
  /** 503 answers while the disk was full, and those of them without Retry-After. */
  refused: number
  withoutRetryAfter: number
  /** What GET /readyz said meanwhile. */
  readyzWhileFull: number
  /** From there being room again to the first acknowledgement. */
  recoveredMs: number
  /** The processes are those from before. */
  livedOn: boolean
}

/**
 * Runs the service with its spool on its own small disk, fills that disk, keeps it full for a while, and
 * makes room again. Requires root on Linux: see `mountRefusal`.
 */
export async function runDiskFull(
  options: ScenarioOptions & { fullMs: number },
): Promise<DiskFullResult> {
  const { fullMs, log } = options
  const dataDir = mkdtempSync(join(tmpdir(), 'footfall-chaos-'))
  const disk = join(dataDir, 'disk')
  mkdirSync(disk)
  const unmount = mountDisk(disk)
  // The spool below the top of its disk, so that the ballast is not in it.
  mkdirSync(join(disk, 'spool'), { mode: 0o700 })
  symlinkSync(join(disk, 'spool'), join(dataDir, 'spool'))
  try {
    return await withLoad(
      { ...options, dataDir, load: { rate: 500, connections: 8 } },
      async (service, sender) => {
        const pids = () =>
          JSON.stringify(serviceProcesses(service.process.pid!).map(({ pid }) => pid))
        const refused = () => sender.answers.get('503 busy') ?? 0
        await waitFor('the first events', () => sender.acknowledged > 500)
        const before = pids()

        const ballast = fillDisk(join(disk, 'ballast'))
        await waitFor('the first 503', () => refused() > 0, 20_000)
        log(`full: ${JSON.stringify(Object.fromEntries(sender.answers))}`)
        await delay(fullMs)
        const readyzWhileFull = (await fetch(`${service.url}/readyz`)).status
        ballast.remove()
        const freeAt = Date.now()
        const acknowledged = sender.acknowledged
        await waitFor('an acknowledgement', () => sender.acknowledged > acknowledged + 100, 30_000)
        log('recovered')
        return {
          refused: refused(),
          withoutRetryAfter: sender.withoutRetryAfter,
          readyzWhileFull,
          recoveredMs: Date.now() - freeAt,
          livedOn: before === pids(),
        }
      },
    )
  } finally {
    unmount()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
