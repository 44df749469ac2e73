import { execFile } from 'node:child_process'
import { createReadStream, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { migrateClickHouse } from '../../collector/platform/clickhouse/migrate.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { packageRoot } from '../../collector/platform/paths.ts'
import type { Store } from './pages.ts'
import type { Bench, Row } from './rows.ts'
import { interleave } from './stats.ts'

const bytesMax = 512 * 1024 * 1024

/** Loads a file as an operator does. */
export const loadFile = (dataDir: string, path: string, target: string) =>
  promisify(execFile)(
    process.execPath,
    [join(packageRoot, 'dist/collector/cli.js'), 'identity', 'load', '--into', target, path],
    { env: { ...process.env, FOOTFALL_DATA_DIR: dataDir } },
  )

/** Loading the beginning of a file of profiles ÷ inserting its bytes into the same, empty tables as they are. */
export async function measureLoading(
  { repeats, log }: Bench,
  { url }: Store,
  profiles: string,
  directory: string,
): Promise<Row> {
  const database = 'bench_loading'
  await migrateClickHouse(url, database)
  const clickhouse = openClickHouse(url, database)
  const dataDir = join(directory, 'loading')
  mkdirSync(dataDir, { recursive: true })
  const facts = { clickhouse_url: url, clickhouse_database: database, postgres_url: '' }
  writeFileSync(join(dataDir, 'stores.json'), JSON.stringify(facts))
  const path = join(dataDir, 'profiles.ndjson')
  const bytes = await copyLines(profiles, path)

  const empty = async () => {
    for (const table of ['profiles', 'profile_rows'])
      await clickhouse.command({ sql: `TRUNCATE TABLE ${table}`, params: {} })
  }
  const timed = async (run: () => Promise<unknown>) => {
    await empty()
    const startedAt = performance.now()
    await run()
    return performance.now() - startedAt
  }
  log('loading')
  const { a, b, ratio } = await interleave(
    repeats,
    () => timed(() => insertFile(url, database, path)),
    () => timed(() => loadFile(dataDir, path, 'profiles')),
  )
  const [{ rows } = { rows: 0 }] = await clickhouse.rows<{ rows: number }>({
    sql: 'SELECT count() AS rows FROM profile_rows',
    params: {},
  })
  await clickhouse.command({ sql: `DROP DATABASE ${database}`, params: {} })
  await clickhouse.close()
  return {
    what: 'rows/s of loading profiles ÷ raw insert of the same file',
    value: ratio.toFixed(2),
    target: '≥ 0.8',
    detail: `${((rows / b) * 1_000).toFixed(0)} ÷ ${((rows / a) * 1_000).toFixed(0)} rows/s, ${rows} rows of ${(bytes / 1e6).toFixed(0)} MB`,
  }
}

/** Copies whole lines, as many as are in the first half gigabyte. */
async function copyLines(from: string, to: string): Promise<number> {
  const length = Math.min(bytesMax, statSync(from).size)
  const parts: Buffer[] = []
  for await (const part of createReadStream(from, { end: length - 1 })) parts.push(part as Buffer)
  const bytes = Buffer.concat(parts)
  const whole = bytes.subarray(0, bytes.lastIndexOf('\n') + 1)
  writeFileSync(to, whole)
  return whole.length
}

/** A file's bytes straight into ClickHouse. */
async function insertFile(url: string, database: string, path: string): Promise<void> {
  const { hostname, port, username, password } = new URL(url)
  const search = new URLSearchParams({
    database,
    date_time_input_format: 'best_effort',
    wait_end_of_query: '1',
    query: 'INSERT INTO profiles FORMAT JSONEachRow',
  })
  const answer = await new Promise<string>((resolve, reject) => {
    const outgoing = request(
      {
        method: 'POST',
        hostname,
        port,
        path: `/?${search}`,
        auth: `${username}:${decodeURIComponent(password)}`,
      },
      (incoming) => {
        text(incoming).then(
          (body) => (incoming.statusCode === 200 ? resolve(body) : reject(new Error(body))),
          reject,
        )
      },
    )
    outgoing.on('error', reject)
    createReadStream(path, { highWaterMark: 1 << 20 }).pipe(outgoing)
  })
  if (answer !== '') throw new Error(answer)
}
