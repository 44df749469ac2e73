import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { packageRoot } from '../../collector/platform/paths.ts'
import type { Row } from './rows.ts'

const path = join(packageRoot, 'test/bench/RESULTS.md')
const heading = '## Latest run of each benchmark'
const head = `${heading}

| Benchmark | What | Measured | Target | From | Date | Machine | Commit |
|---|---|---|---|---|---|---|---|
`

/** Replaces the lines of one benchmark in the last table of RESULTS.md; the lines of other benchmarks stay. */
export function recordResults(benchmark: string, rows: readonly Row[]): void {
  const [before, table = ''] = readFileSync(path, 'utf8').split(heading)
  const others = table
    .split('\n')
    .filter((line) => line.startsWith('| `') && !line.startsWith(`| \`${benchmark}\` |`))
  const measuredAt = [new Date().toISOString().slice(0, 10), machine(), measuredCommit]
  const lines = rows.map(({ what, value, target, detail }) =>
    lineOf([`\`${benchmark}\``, what, value, target, detail, ...measuredAt]),
  )
  writeFileSync(path, `${before}${head}${[...others, ...lines].toSorted(byBenchmark).join('\n')}\n`)
}

const benchmarkOf = (line: string): string => line.split('`')[1]!

/** Keeps the order of the lines of one benchmark. */
const byBenchmark = (one: string, other: string): number =>
  benchmarkOf(one).localeCompare(benchmarkOf(other))

const lineOf = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`

const machine = (): string =>
  `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 1024 ** 3)} GB, load ${loadavg()[0]!.toFixed(0)}`

/** Names the checked-out commit, with a mark if files differ from it. */
function commit(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty', '--exclude=*'], {
      cwd: packageRoot,
      encoding: 'utf8',
    }).trim()
  } catch {
    return 'unknown'
  }
}

/** Read at the start, because RESULTS.md itself changes. */
const measuredCommit = commit()
