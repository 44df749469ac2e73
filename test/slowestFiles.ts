import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'

const filesMax = 10

/** Prints the wall time of a run, with the files that took longest. */
export default class SlowestFiles implements Reporter {
  #startedAt = performance.now()

  onTestRunStart(): void {
    this.#startedAt = performance.now()
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules
      .map((module) => ({ path: relative(process.cwd(), module.moduleId), ms: msOf(module) }))
      .sort((one, other) => other.ms - one.ms)
    const sum = files.reduce((ms, file) => ms + file.ms, 0)
    console.log(
      [
        `Tests took ${inSeconds(performance.now() - this.#startedAt)}, their files ${inSeconds(sum)} in total. The slowest:`,
        ...files.slice(0, filesMax).map(({ path, ms }) => `${inSeconds(ms).padStart(8)}  ${path}`),
        '',
      ].join('\n'),
    )
  }
}

/** With its imports and hooks. */
function msOf(module: TestModule): number {
  const { setupDuration, collectDuration, duration } = module.diagnostic()
  return setupDuration + collectDuration + duration
}

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
