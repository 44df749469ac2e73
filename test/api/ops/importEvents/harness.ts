import { randomUUID } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../../../collector/config.ts'
import { runImportCommand } from '../../../../collector/ops/importEvents/importCommand.ts'
import { runHistoryCommand } from '../../../../collector/ops/importHistory/historyCommand.ts'
import { chrome, type Row } from '../../../harness/api.ts'
import { type Ended, runCommand, runCommandLine } from '../../../harness/commands.ts'
import { openTenants, type Tenants } from '../../../harness/tenants.ts'

export type Importing = Awaited<ReturnType<typeof openImporting>>

const day = 86_400_000

/** A tenant of a test's own, and the directory of files to import. */
export async function openImporting() {
  const tenants: Tenants = await openTenants()
  const directory = mkdtempSync(join(tmpdir(), 'footfall-import-'))
  const env = { ...tenants.env, FOOTFALL_DATA_DIR: directory }
  const { projectId, pixelId } = tenants.first
  const ofImport = (args: readonly string[]) => ['--pixel', pixelId, ...args]
  return {
    ...tenants,
    env,
    directory,
    /** The words of `npx footfall-server events import`. */
    wordsOf: (...args: string[]) => ['events', 'import', ...ofImport(args)],
    /** Runs `npx footfall-server …` as an operator would. */
    runLine: (words: string[], stdin?: Buffer) =>
      runCommandLine(words, env, { cwd: directory, stdin }),
    /** Runs the code of `npx footfall-server events import` here. */
    importFiles: (args: string[]) =>
      runCommand(directory, () => runImportCommand(readConfig(env), ofImport(args))),
    /** Runs the code of `npx footfall-server import PRODUCT` here. */
    importExport: (product: 'ga4' | 'matomo' | 'umami' | 'plausible', args: string[]) =>
      runCommand(directory, () =>
        product === 'plausible'
          ? runHistoryCommand(readConfig(env), args)
          : runImportCommand(readConfig(env), ofImport(args), product),
      ),
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
