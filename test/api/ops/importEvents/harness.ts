import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { packageRoot } from '../../../../collector/platform/paths.ts'
import { chrome, type Row } from '../../../harness/api.ts'
import { openTenants, type Tenants } from '../../../harness/tenants.ts'

/** The result of a command. */
export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

export type Importing = Awaited<ReturnType<typeof openImporting>>

const day = 86_400_000

/** A tenant of a test's own, and the directory of files to import. */
export async function openImporting() {
  const tenants: Tenants = await openTenants()
  const directory = mkdtempSync(join(tmpdir(), 'footfall-import-'))
  const env = { ...process.env, ...tenants.env, FOOTFALL_DATA_DIR: directory }
  const { projectId, pixelId } = tenants.first
  const cli = [process.execPath, join(packageRoot, 'dist/collector/cli.js')]
  const command = (...args: string[]) => [...cli, 'events', 'import', '--pixel', pixelId, ...args]
  const run = ([program, ...rest]: string[]): { child: ChildProcess; ended: Promise<Ended> } => {
    const child = spawn(program!, rest, { env, cwd: directory, stdio: ['pipe', 'pipe', 'pipe'] })
    const code = new Promise<number | null>((resolve) => child.once('close', resolve))
    const ended = Promise.all([code, text(child.stdout!), text(child.stderr!)])
    return {
      child,
      ended: ended.then(([code, stdout, stderr]) => ({ code, stdout, stderr })),
    }
  }
  const start = (...args: string[]) => run(command(...args))
  const startExport = (product: string, ...args: string[]) => {
    const pixel = product === 'plausible' ? [] : ['--pixel', pixelId]
    return run([...cli, 'import', product, ...pixel, ...args])
  }
  return {
    ...tenants,
    env,
    directory,
    command,
    start,
    /** Runs `npx footfall-server events import` as an operator would. */
    importFiles(args: string[], stdin?: Buffer): Promise<Ended> {
      const { child, ended } = start(...args)
      child.stdin!.end(stdin)
      return ended
    },
    startExport,
    /** Runs `npx footfall-server import PRODUCT`. */
    importExport(product: string, args: string[]): Promise<Ended> {
      const { child, ended } = startExport(product, ...args)
      child.stdin!.end()
      return ended
    },
    write(name: string, content: string | Buffer): string {
      writeFileSync(join(directory, name), content)
      return name
    },
    /** The report of skipped rows. */
    skipped(name: string): Row[] {
      const path = join(directory, `${name}.skipped.ndjson`)
      if (!existsSync(path)) return []
      return readFileSync(path, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Row)
    },
    stored: (columns: string) =>
      tenants.clickhouse.rows<Row>({
        sql: `SELECT ${columns} FROM events WHERE project_id = {projectId:UUID} ORDER BY ts_millis, event_id`,
        params: { projectId },
      }),
    close: async () => {
      await tenants.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** A page view of the past, as an export of the API has it; the first is the newest. */
export const pageView = (daysAgo: number, more: Row = {}) => {
  const timestamp = new Date(Date.now() - daysAgo * day).toISOString()
  return {
    event_id: randomUUID(),
    event_type: 'page_view',
    timestamp,
    cookie_id: randomUUID(),
    user_agent: chrome,
    client_ip: '81.2.69.160',
    event_data: JSON.stringify({
      url: `https://shop.example/day/${daysAgo}?utm_source=mail`,
      title: 'A “day”, with commas',
      referrer: 'https://search.example/',
      screen: { height: 1080, width: 1920 },
      viewport: { height: 900, width: 1600 },
      timestamp,
    }),
    ...more,
  }
}

/** The counts that a command printed. */
export const countsOf = ({ stdout }: Ended) =>
  Object.fromEntries(
    [...stdout.matchAll(/^([\d,]+) (events|duplicates|rows)/gm)].map(([, count, what]) => [
      what,
      Number(count!.replaceAll(',', '')),
    ]),
  )
