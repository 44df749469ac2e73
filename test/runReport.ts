import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import type { Usage } from './harness/usage.ts'

const filesMax = 10
/** CI sets this to a path for the seconds of each file. */
const slowestFile = process.env.TEST_SLOWEST_FILE

/** Prints the slowest files of a run, what files opened, and the files that sent most queries. */
export default class RunReport implements Reporter {
  #startedAt = performance.now()

  onTestRunStart(): void {
    this.#startedAt = performance.now()
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map((module) => ({
      path: relative(process.cwd(), module.moduleId),
      ms: msOf(module),
      usage: module.meta().usage,
    }))
    const slowest = files.toSorted((one, other) => other.ms - one.ms)
    const sum = files.reduce((ms, file) => ms + file.ms, 0)
    const lines = [
      `Tests took ${inSeconds(performance.now() - this.#startedAt)}, their files ${inSeconds(sum)} in total. The slowest:`,
      ...slowest.slice(0, filesMax).map(({ path, ms }) => `${inSeconds(ms).padStart(9)}  ${path}`),
    ]
    const users = files.flatMap(({ path, usage }) => (usage ? [{ path, ...usage }] : []))
    if (users.length > 0) lines.push(...describe(users))
    console.log([...lines, ''].join('\n'))
    if (slowestFile)
      writeFileSync(
        slowestFile,
        JSON.stringify(Object.fromEntries(slowest.map(({ path, ms }) => [path, Math.round(ms)]))),
      )
  }
}

function describe(users: readonly ({ path: string } & Usage)[]): string[] {
  const total = (kind: keyof Usage) => users.reduce((sum, file) => sum + file[kind], 0)
  const opened = (kind: keyof Usage) =>
    `${users.filter((file) => file[kind] > 0).length} files (${total(kind)})`
  const most = users.toSorted((one, other) => other.queries - one.queries)
  const busiest = users.toSorted((one, other) => other.processorMs - one.processorMs)
  return [
    'Most processor time in a test process:',
    ...busiest
      .slice(0, filesMax)
      .map(({ path, processorMs }) => `${inSeconds(processorMs).padStart(9)}  ${path}`),
    `Opened: an application by ${opened('apps')}, databases by ${opened('databases')}, a service by ${opened('services')}.`,
    `Queries of ClickHouse: ${total('queries')}, with ${total('ddl')} of DDL; of PostgreSQL: ${total('postgresQueries')}. The most, with DDL in parentheses:`,
    ...most
      .slice(0, filesMax)
      .map(({ path, queries, ddl }) => `${`${queries} (${ddl})`.padStart(11)}  ${path}`),
  ]
}

/** With its imports and hooks. */
function msOf(module: TestModule): number {
  const { setupDuration, collectDuration, duration } = module.diagnostic()
  return setupDuration + collectDuration + duration
}

const inSeconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
