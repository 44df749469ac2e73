import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { packageRoot } from '../../collector/platform/paths.ts'
import { findWorkers } from '../chaos/processes.ts'
import { type Service, waitFor } from '../harness/service.ts'

const stallsFile = join(tmpdir(), `footfall-bench-stalls-${process.pid}`)

/** What the environment of a service has to say so that its one worker can be asked. */
export const watchStalls = {
  NODE_OPTIONS: `--import=${pathToFileURL(join(packageRoot, 'test/bench/watchStalls.mjs')).href}`,
  BENCH_STALLS: stallsFile,
}

/** How long the event loop of a service's worker stood still at most, milliseconds, since it was last asked. */
export async function longestStallMs({ process: { pid } }: Service): Promise<number> {
  rmSync(stallsFile, { force: true })
  for (const worker of findWorkers(pid!)) process.kill(worker.pid, 'SIGUSR2')
  const text = await waitFor('what the worker tells', () => readText(stallsFile))
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
