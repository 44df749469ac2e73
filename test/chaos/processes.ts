import { readdirSync, readFileSync } from 'node:fs'
import type { Postgres } from '../../collector/platform/postgres/pool.ts'

/** A process according to /proc. */
export interface ProcessInfo {
  pid: number
  parent: number
  /** Its command line, words joined by spaces. */
  command: string
  rssBytes: number
}

/** The processes below `pid`, children before grandchildren, without `pid` itself. */
export function descendantsOf(pid: number): ProcessInfo[] {
  const all = allProcesses()
  const found: ProcessInfo[] = []
  for (let parents = [pid]; parents.length > 0; ) {
    const children = all.filter(({ parent }) => parents.includes(parent))
    found.push(...children)
    parents = children.map((child) => child.pid)
  }
  return found
}

const isStore = ({ command }: ProcessInfo) =>
  /\/(clickhouse|postgres)\/localServer\.js/.test(command)

/** The local ClickHouse that the service below `pid` runs; undefined while it is down. */
export const findClickHouse = (pid: number): ProcessInfo | undefined =>
  descendantsOf(pid).find(({ command }) => command.includes('/clickhouse/localServer.js'))

/** The local PostgreSQL that the service below `pid` runs; undefined while it is down. */
export const findPostgres = (pid: number): ProcessInfo | undefined =>
  descendantsOf(pid).find(({ command }) => command.includes('/postgres/localServer.js'))

/** The processes that the primary `pid` has take beacons for it; none when it takes them itself. */
export const findWorkers = (pid: number): ProcessInfo[] =>
  descendantsOf(pid).filter((child) => child.parent === pid && !isStore(child))

/** The service's own processes: the primary and its workers, without the stores. */
export const serviceProcesses = (pid: number): ProcessInfo[] => [
  ...allProcesses().filter((process) => process.pid === pid),
  ...findWorkers(pid),
]

/** Resident memory of the service's own processes, MiB. */
export const serviceRssMiB = (pid: number): number =>
  serviceProcesses(pid).reduce((sum, { rssBytes }) => sum + rssBytes, 0) / 1024 ** 2

/** Processor time that these processes have taken so far, milliseconds: /proc counts it in hundredths of a second. */
export const processorMs = (processes: readonly { pid: number }[]): number =>
  processes.reduce((sum, { pid }) => {
    const fields = statFields(pid)
    return sum + (Number(fields[11]) + Number(fields[12])) * 10
  }, 0)

/**
 * Processor time that a process, all below it and all that they have ended have taken so far, milliseconds. Of
 * a server that starts a process for each task, it is all its work.
 */
export const treeProcessorMs = (pid: number): number =>
  [{ pid }, ...descendantsOf(pid)].reduce((sum, process) => sum + ownAndEndedMs(process.pid), 0)

/** 0 for a process that has ended meanwhile: its parent's time includes it. */
function ownAndEndedMs(pid: number): number {
  try {
    const fields = statFields(pid)
    return [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]) * 10, 0)
  } catch {
    return 0
  }
}

/** The fields after the name, which may hold anything but ends with the last parenthesis. */
const statFields = (pid: number): string[] =>
  /^.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))![1]!.split(' ')

/** Sends SIGKILL. False if the process had already ended. */
export function killNow(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}

/**
 * Makes the jobs of a killed service start again as soon as one runs, not after their silence: no other
 * process runs them. So most kills hit work, and few hit waits.
 */
export async function forgetJobs(postgres: Postgres): Promise<void> {
  await postgres.query("DELETE FROM pgboss.job WHERE state = 'active'")
}

function allProcesses(): ProcessInfo[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => readProcess(Number(name)) ?? [])
}

/** Undefined for a process that ended a moment ago, or ended and was not yet waited for. */
function readProcess(pid: number): ProcessInfo | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const number = (key: string) =>
      Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
    if (/^State:\s+Z/m.test(status)) return undefined
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { pid, parent: number('PPid'), command, rssBytes: number('VmRSS') * 1024 }
  } catch {
    return undefined
  }
}
