import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { inject } from 'vitest'
import { loadIntent } from '../../../collector/audiences/signals/intentCommands.ts'
import { runIdentityCommand } from '../../../collector/identity/identityCommands.ts'
import { openDatabase } from '../../../collector/platform/clickhouse/cluster.ts'
import { openClickHouse } from '../../../collector/platform/clickhouse/openClickHouse.ts'
import type { Row } from '../../harness/api.ts'
import { runCommand, runCommandLine } from '../../harness/commands.ts'
import { newClickHouseDatabase } from '../../harness/databases.ts'

/** An identity store of a test's own, and the directory of files to load into it. */
export async function openIdentityStore() {
  const url = inject('clickhouseUrl')
  const database = await newClickHouseDatabase()
  const clickhouse = openClickHouse(url, database)
  const directory = mkdtempSync(join(tmpdir(), 'footfall-load-'))
  const facts = { clickhouse_url: url, clickhouse_database: database, postgres_url: '' }
  writeFileSync(join(directory, 'stores.json'), JSON.stringify(facts))
  const env = { FOOTFALL_DATA_DIR: directory }
  const openStore = async () => openDatabase(url, database)

  const rows = <T = Row>(sql: string, params: Record<string, unknown> = {}): Promise<T[]> =>
    clickhouse.rows<T>({ sql, params })

  /** The answer of ClickHouse, byte by byte; compressed with Zstandard on request. */
  const bytes = (
    sql: string,
    params: Record<string, string> = {},
    encoding?: 'zstd',
  ): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const address = new URL(url)
      const search = new URLSearchParams({
        database,
        ...(encoding && { enable_http_compression: '1' }),
      })
      for (const [name, value] of Object.entries(params)) search.set(`param_${name}`, value)
      const outgoing = request(
        {
          method: 'POST',
          hostname: address.hostname,
          port: address.port,
          path: `/?${search}`,
          auth: `${address.username}:${address.password}`,
          headers: encoding ? { 'accept-encoding': encoding } : {},
        },
        (answer) => {
          buffer(answer).then((body) => {
            if (answer.statusCode === 200) resolve(body)
            else reject(new Error(body.toString()))
          }, reject)
        },
      )
      outgoing.on('error', reject)
      outgoing.end(sql)
    })

  const runLine = (args: readonly string[], stdin?: Buffer) =>
    runCommandLine(args, env, { cwd: directory, stdin })

  return {
    clickhouse,
    directory,
    env,
    rows,
    bytes,
    /** Packs bytes as the program of that name does, which Node 20 cannot. */
    zstd: (content: Buffer) =>
      bytes(`SELECT base64Decode('${content.toString('base64')}') FORMAT RawBLOB`, {}, 'zstd'),
    /** Writes a file to load and answers its path. */
    write(name: string, content: string | Buffer): string {
      const path = join(directory, name)
      writeFileSync(path, content)
      return path
    },
    /** Runs `npx footfall-server …` as an operator would. */
    runLine,
    /** Runs the code of `npx footfall-server identity …` here. */
    identity: ([name, ...args]: readonly string[]) =>
      runCommand(directory, () => runIdentityCommand(openStore, name as 'load', args)),
    /** Runs the code of `npx footfall-server intent load …` here. */
    intent: ([, ...args]: readonly string[]) =>
      runCommand(directory, () => loadIntent(openStore, args)),
    /** Tables that loads left behind. */
    leftovers: async () =>
      (
        await rows<{ name: string }>(
          "SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE 'load!_%' ESCAPE '!'",
        )
      ).map(({ name }) => name),
    async close() {
      await clickhouse.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

export type IdentityStore = Awaited<ReturnType<typeof openIdentityStore>>

/** Rows as lines of JSON. */
export const ndjson = (rows: readonly object[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join('')

/** Rows as CSV with a header: every text in quotes, null empty. */
export function csv(rows: readonly Row[]): string {
  const names = Object.keys(rows[0]!)
  const cell = (value: unknown) =>
    value === null || value === undefined ? '' : `"${String(value).replaceAll('"', '""')}"`
  return [names, ...rows.map((row) => names.map((name) => row[name]))]
    .map((cells) => `${cells.map(cell).join(',')}\n`)
    .join('')
}
