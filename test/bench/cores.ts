import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { descendantsOf, serviceProcesses } from '../chaos/processes.ts'
import type { Service } from '../harness/service.ts'

/** The core that what is measured is pinned to, and the one for the load and the stores. */
export const measuredCore = 0
export const otherCore = 1

/** Why nothing can be pinned to a core here; null when it can. */
export function pinningRefusal(): string | null {
  if (availableParallelism() < 2) return 'it takes two cores'
  try {
    pin(process.pid, `0-${availableParallelism() - 1}`)
    return null
  } catch {
    return 'it takes taskset (Debian: util-linux)'
  }
}

/** Pins all threads of a process, and so those that they start. */
export const pin = (pid: number, cores: number | string): void => {
  execFileSync('taskset', ['--all-tasks', '--pid', '--cpu-list', String(cores), String(pid)], {
    stdio: 'pipe',
  })
}

/** Gives the service's own processes one core, all of them together, and its stores the other. */
export function pinService({ process: { pid } }: Service): void {
  const own = serviceProcesses(pid!).map((process) => process.pid)
  for (const { pid: child } of descendantsOf(pid!))
    pin(child, own.includes(child) ? measuredCore : otherCore)
  pin(pid!, measuredCore)
}
