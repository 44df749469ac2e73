import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { beaconText } from './beacons.ts'
import { load } from './load.ts'
import type { Bench, Row } from './rows.ts'
import { withService } from './service.ts'

const settleMs = 20_000
const rate = 1_000

/** Memory of all processes of the service, as if nothing else ran on the machine: idle, and taking events. */
export function memory({ seconds, log }: Bench): Promise<Row[]> {
  return withService(async (service) => {
    await delay(settleMs)
    const idle = memoryOf(service.process.pid!)
    log(describe(idle))
    const body = beaconText(service.demo.pixel_id, 1)
    const loaded = load({ url: service.url, body, seconds, connections: 16, rate })
    await delay((seconds * 1000 * 2) / 3)
    const busy = memoryOf(service.process.pid!)
    await loaded
    return [
      row('memory of all processes, idle', idle, 350),
      row(`memory of all processes at ${rate} events/s`, busy, 450),
    ]
  })
}

const row = (what: string, processes: readonly ProcessMemory[], target: number): Row => ({
  what,
  value: `${(totalOf(processes) / 1024).toFixed(0)} MB`,
  target: `≤ ${target} MB`,
  detail: describe(processes),
})

/** What one process has, in KiB. */
interface ProcessMemory {
  name: string
  anonymous: number
  /** Bytes of each mapped file that are in memory. */
  files: ReadonlyMap<string, number>
}

/** Every file counts once, however many of the processes have mapped it. */
function totalOf(processes: readonly ProcessMemory[]): number {
  const files = new Map<string, number>()
  for (const each of processes)
    for (const [path, size] of each.files) files.set(path, Math.max(files.get(path) ?? 0, size))
  const mapped = [...files.values()].reduce((sum, size) => sum + size, 0)
  return processes.reduce((sum, { anonymous }) => sum + anonymous, mapped)
}

function describe(processes: readonly ProcessMemory[]): string {
  const byName = new Map<string, ProcessMemory[]>()
  for (const each of processes) byName.set(each.name, [...(byName.get(each.name) ?? []), each])
  const megabytes = (kibibytes: number) => (kibibytes / 1024).toFixed(0)
  return [...byName]
    .map(([name, all]) => {
      const own = all.reduce((sum, { anonymous }) => sum + anonymous, 0)
      return `${all.length} × ${name} ${megabytes(totalOf(all))} MB (${megabytes(own)} without files)`
    })
    .join(', ')
}

/** The memory of a process and of all below it. */
function memoryOf(root: number): ProcessMemory[] {
  const children = new Map<number, number[]>()
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const stat = readOr(`/proc/${entry}/stat`)
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)])
  }
  const all = [root]
  for (const pid of all) all.push(...(children.get(pid) ?? []))
  return all.map(processMemory)
}

function processMemory(pid: number): ProcessMemory {
  const files = new Map<string, number>()
  let anonymous = 0
  let path = ''
  for (const line of readOr(`/proc/${pid}/smaps`).split('\n')) {
    const mapping = /^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+\s*(.*)$/.exec(line)
    if (mapping) path = mapping[1]!
    const [, name, size] = /^(Rss|Anonymous):\s+(\d+) kB/.exec(line) ?? []
    if (name === 'Anonymous') anonymous += Number(size)
    if (name === 'Anonymous' && path.startsWith('/'))
      files.set(path, (files.get(path) ?? 0) - Number(size))
    if (name === 'Rss' && path.startsWith('/'))
      files.set(path, (files.get(path) ?? 0) + Number(size))
  }
  return { name: nameOf(pid), anonymous, files }
}

function nameOf(pid: number): string {
  const command = readOr(`/proc/${pid}/cmdline`)
  return (
    ['clickhouse/localServer', 'postgres/localServer', 'worker.js', 'main.js', 'start.mjs'].find(
      (part) => command.includes(part),
    ) ?? (command.includes('postgres') ? 'postgres' : command.split('\0')[0]!.split('/').at(-1)!)
  )
}

function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
