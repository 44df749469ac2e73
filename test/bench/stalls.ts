import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageRoot } from '../../collector/platform/paths.ts'
import { findWorkers } from '../chaos/processes.ts'
import { type Service, waitFor } from '../harness/service.ts'

const stallsFile = join(tmpdir(), `footfall-bench-stalls-${process.pid}`)

/** Environment of a service, or of the floor, so that its worker can be queried. */
export const watchStalls = {
  NODE_OPTIONS: `--import=${pathToFileURL(join(packageRoot, 'test/bench/watchStalls.mjs')).href}`,
  BENCH_STALLS: stallsFile,
}

/** A process whose event loop is watched. */
export interface Watched {
  pid: number
}

/** The one that takes a service's beacons. */
export const workerOf = ({ process: { pid } }: Service): Watched => findWorkers(pid!)[0]!

/** How long the event loop of a process stood still at most, milliseconds, since it was last asked. */
export async function longestStallMs({ pid }: Watched): Promise<number> {
  rmSync(stallsFile, { force: true })
  process.kill(pid, 'SIGUSR2')
  const text = await waitFor('what the process tells', () => readText(stallsFile))
  rmSync(stallsFile)
  return Number(text)
}

function readText(path: string): string | null {
  try {
    const text = readFileSync(path, 'utf8')
    return text.endsWith('\n') ? text : null
  } catch {
    return null
  }
}
