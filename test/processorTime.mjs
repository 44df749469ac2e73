/** Measures the processor time of all processes that this one starts, by kind. Needs Linux's /proc. */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

const sampleMs = 400

/** The kinds of processes: the first pattern that matches a command line decides. */
const kinds = [
  ['ClickHouse', /clickhouse\/localServer/],
  ['PostgreSQL', /postgres(:|\/localServer|ql)|initdb|pg_ctl|\/bin\/postgres/],
  ['browsers', /chrom(e|ium)|firefox|webkit|Xvfb/i],
  ['lint and types', /biome|typescript|tsc|test\/prose|--project pure test\/documents/],
  ['build', /ops\/launch\/build|esbuild|generate\.mjs/],
  ['services', /dist\/collector\/(main|worker|cli)/],
  ['test processes', /vitest/],
]
const other = 'other'

/** Starts to measure; the returned function ends it and returns a table of seconds by kind. */
export function measureProcessorTime() {
  if (!existsSync('/proc/self/stat')) return () => []
  const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
  /** Of each process that was seen: its kind and its time. A process id may be used again, so the start is in the key. */
  const seen = new Map()
  const sample = () => {
    const all = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => readProcess(pid) ?? [])
    const children = Map.groupBy(all, ({ parent }) => parent)
    const ours = []
    for (let found = children.get(process.pid); found?.length > 0; ) {
      ours.push(...found)
      found = found.flatMap(({ pid }) => children.get(pid) ?? [])
    }
    for (const { pid, start, ticks } of ours)
      seen.set(`${pid} ${start}`, { ticks, kind: kindOf(pid) || seen.get(`${pid} ${start}`)?.kind })
  }
  const timer = setInterval(sample, sampleMs).unref()
  return () => {
    clearInterval(timer)
    sample()
    const ticks = new Map(kinds.map(([kind]) => [kind, 0]))
    for (const each of seen.values()) {
      const kind = each.kind || other
      ticks.set(kind, (ticks.get(kind) ?? 0) + each.ticks)
    }
    // The kernel adds up the time of all ended descendants, including those that ended between two samples.
    const sum = [...ticks.values()].reduce((all, one) => all + one, 0)
    ticks.set(other, (ticks.get(other) ?? 0) + Math.max(0, readProcess(process.pid).ended - sum))
    return [...ticks].map(([kind, count]) => ({ kind, seconds: count / ticksPerSecond }))
  }
}

function kindOf(pid) {
  const commandLine = read(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ')
  return commandLine && kinds.find(([, pattern]) => pattern.test(commandLine))?.[0]
}

/** Fields 14 to 17 of proc(5)'s stat are the times of the process and of its ended children; 22 is its start. */
function readProcess(pid) {
  const stat = read(`/proc/${pid}/stat`)
  if (!stat) return null
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user, system, endedUser, endedSystem] = fields.slice(11, 15).map(Number)
  return {
    pid: Number(pid),
    parent: Number(fields[1]),
    start: fields[19],
    ticks: user + system,
    ended: endedUser + endedSystem,
  }
}

function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process has ended.
    return null
  }
}
