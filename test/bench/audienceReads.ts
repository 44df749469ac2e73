import { createHash } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { newApiCredentials, storeApiKey } from '../../collector/accounts/keys/apiKeys.ts'
import type { QueryExecutor } from '../../collector/api/access/queryExecutor.ts'
import { openCursors } from '../../collector/api/http/cursors.ts'
import { requestFile } from '../../collector/audiences/files/audienceFiles.ts'
import { openDirectoryStore } from '../../collector/audiences/files/fileStore.ts'
import { partQuery } from '../../collector/audiences/files/rowsQuery.ts'
import { formats, writeFile } from '../../collector/audiences/files/writeFile.ts'
import { readMembers, readRows } from '../../collector/audiences/memberRows.ts'
import type { Demo } from '../../collector/ops/demo/demo.ts'
import type { ClickHouse } from '../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import type { Postgres } from '../../collector/platform/postgres/pool.ts'
import { withoutLimits } from '../chaos/scenario.ts'
import { startService } from '../harness/service.ts'
import type { Store } from './pages.ts'
import { record, replay, send } from './recorded.ts'
import type { Row } from './rows.ts'
import { interleave, median } from './stats.ts'

/** A build of an audience, and where it lies. */
interface Built {
  readonly store: Store
  readonly demo: Demo
  readonly postgres: Postgres
  readonly clickhouse: ClickHouse
  readonly audienceId: string
  readonly buildId: string
  readonly count: number
}

const pageRows = 1_000
/** So many pages are measured, evenly over the build. */
const pagesMax = 40

/** Pages of records ÷ the same two statements straight from ClickHouse, and the last pages ÷ the first ones. */
export async function measurePages(built: Built): Promise<Row[]> {
  const { store, demo, postgres } = built
  const credentials = newApiCredentials('live')
  await storeApiKey(
    postgres,
    { organizationId: demo.organization_id, projectId: null },
    'live',
    'bench',
    credentials,
  )
  const service = await startService({
    env: {
      ...withoutLimits,
      CLICKHOUSE_URL: store.url,
      CLICKHOUSE_DATABASE: store.database,
      DATABASE_URL: store.postgresUrl,
      FOOTFALL_WORKERS: '1',
      FOOTFALL_DEMO: 'false',
    },
  })
  try {
    const address = (cursor?: string) =>
      new URL(
        `/api/v1/audiences/${built.audienceId}/records?${new URLSearchParams({
          project_id: demo.project_id,
          page_size: String(pageRows),
          ...(cursor && { cursor }),
        })}`,
        service.url,
      )
    const headers = { 'x-api-key': credentials.apiKey, 'x-api-secret': credentials.apiSecret }
    const page = (cursor?: string) => send(address(cursor), 'GET', headers)
    const cursors: (string | undefined)[] = []
    for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
      cursors.push(cursor)
      cursor = (JSON.parse((await page(cursor)).body.toString()) as { next_cursor?: string })
        .next_cursor
    }
    // The last page is seldom full.
    const full = cursors.slice(0, Math.max(1, cursors.length - 1))
    const step = Math.max(1, Math.floor(full.length / pagesMax))
    const ratios: number[] = []
    const times: number[] = []
    for (let index = 0; index < full.length; index += step) {
      const raw = await pageDirectly(built, index * pageRows)
      const { ms } = await page(full[index])
      ratios.push(ms / raw)
      times.push(ms)
    }
    const ends = await interleave(
      15,
      async () => (await page(full.at(-1))).ms,
      async () => (await page(full[0])).ms,
    )
    return [
      {
        what: `audience: page of ${pageRows} records ÷ the same SQL straight from ClickHouse, p50`,
        value: median(ratios).toFixed(2),
        target: '≤ 1.3',
        detail: `${median(times).toFixed(1)} ms, ${ratios.length} pages`,
      },
      {
        what: 'audience: last page ÷ the first',
        value: ends.ratio.toFixed(2),
        target: '≤ 1.1',
        detail: `${ends.a.toFixed(1)} ÷ ${ends.b.toFixed(1)} ms; ${cursors.length} pages`,
      },
    ]
  } finally {
    await service.stop()
  }
}

/** How long the two statements of a page take without us, in milliseconds. */
async function pageDirectly(
  { store, demo, postgres, buildId }: Built,
  after: number,
): Promise<number> {
  const { organization_id: organizationId } = demo
  const range = { organizationId, buildId, after, limit: pageRows }
  const asReader = (clickhouse: ClickHouse) =>
    ({
      rows: clickhouse.rows,
      stream: (...[query, format]: Parameters<QueryExecutor['stream']>) =>
        clickhouse.stream(query, format),
    }) as QueryExecutor
  const members = await replay(
    store.url,
    await record(store.url, store.database, (clickhouse) =>
      readMembers({ queryExecutor: asReader(clickhouse), postgres }, range),
    ),
  )
  const clickhouse = openClickHouse(store.url, store.database)
  const found = await readMembers({ queryExecutor: asReader(clickhouse), postgres }, range)
  await clickhouse.close()
  const rows = await replay(
    store.url,
    await record(store.url, store.database, (clickhouse) =>
      readRows(asReader(clickhouse), organizationId, found),
    ),
  )
  return members.ms + rows.ms
}

/** Files of each format ÷ ClickHouse writing the same rows to a file itself. */
export async function measureFiles(
  { demo, postgres, clickhouse, buildId, count }: Built,
  directory: string,
  repeats: number,
): Promise<Row[]> {
  const filesDirectory = join(directory, 'files')
  mkdirSync(filesDirectory, { recursive: true })
  const cursors = openCursors(createHash('sha256').update('bench').digest())
  const deps = {
    postgres,
    clickhouse: { live: clickhouse, test: clickhouse },
    store: openDirectoryStore(filesDirectory, 'http://127.0.0.1', cursors),
    temporaryDirectory: join(filesDirectory, 'temporary'),
  }
  const rows: Row[] = []
  for (const format of formats) {
    const ours = async () => {
      await postgres.query('DELETE FROM audience_files')
      await requestFile(postgres, buildId, format)
      const found = await postgres.query<{ file_id: string }>('SELECT file_id FROM audience_files')
      const startedAt = performance.now()
      await writeFile(deps, found.rows[0]!.file_id, AbortSignal.timeout(600_000))
      return performance.now() - startedAt
    }
    const names = { csv: 'CSVWithNames', ndjson: 'JSONEachRow', parquet: 'Parquet' } as const
    const itself = async () => {
      const path = join(filesDirectory, `itself.${format}`)
      const members = {
        organizationId: demo.organization_id,
        buildId,
        entity: 'people',
        erased: [],
        keys: { after: 0, upTo: count },
      } as const
      const { sql, params } = partQuery(members, { escapesFormulas: format === 'csv' })
      const startedAt = performance.now()
      await clickhouse.command({
        sql: `INSERT INTO FUNCTION file('${path}', '${names[format]}') ${sql}`,
        params,
      })
      const ms = performance.now() - startedAt
      rmSync(path)
      return ms
    }
    const { a, b, ratio } = await interleave(repeats, itself, ours)
    rows.push({
      what: `audience: speed of a ${format} file ÷ ClickHouse writing it itself`,
      value: ratio.toFixed(2),
      target: format === 'parquet' ? '≥ 0.9' : '≥ 0.85',
      detail: `${b.toFixed(0)} ms, itself ${a.toFixed(0)} ms; ${count} rows`,
    })
  }
  return rows
}
