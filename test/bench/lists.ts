import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runImport } from '../../collector/audiences/lists/import/runImport.ts'
import { storeImport } from '../../collector/audiences/lists/imports.ts'
import { dropRows } from '../../collector/audiences/lists/listRows.ts'
import { createList } from '../../collector/audiences/lists/lists.ts'
import { saveUpload } from '../../collector/audiences/lists/upload/saveUpload.ts'
import { openUploads } from '../../collector/audiences/lists/upload/uploads.ts'
import { createAllowance } from '../../collector/billing/allowance.ts'
import { startLocalClickHouse } from '../../collector/platform/clickhouse/local.ts'
import { migrateClickHouse } from '../../collector/platform/clickhouse/migrate.ts'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { startLocalPostgres } from '../../collector/platform/postgres/local.ts'
import { migratePostgres } from '../../collector/platform/postgres/migrate.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { makePeople } from './people.ts'
import type { Bench, Row } from './rows.ts'
import { median } from './stats.ts'

const lines = 1_000_000
const largeBytes = 1024 ** 3
const partBytes = 256 * 1024
const brokenEvery = 1_000

/** A file of e-mail addresses, line by line; every thousandth is broken, every tenth was there before. */
const lineOf = (index: number): string =>
  index % brokenEvery === 7
    ? `broken ${index}\n`
    : `person.number${index - (index % 10 === 9 ? 1 : 0)}@company.example\n`

/** The same in a file of several columns, as a CRM writes it: some hundred bytes a line. */
const wideLineOf = (index: number): string =>
  `${index},Person Number ${index},Some Title of Somebody,2026-01-01T00:00:00Z,${lineOf(index)}`

interface Cost {
  ms: number
  /** Of ClickHouse and of this process. */
  processorMs: number
}

/** What ClickHouse and this process have taken of processors so far; the kernel counts in hundredths of a second. */
function processorMs(clickhousePid: number): number {
  const fields = readFileSync(`/proc/${clickhousePid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  const { user, system } = process.cpuUsage()
  return (Number(fields[11]) + Number(fields[12])) * 10 + (user + system) / 1000
}

/** So many bytes of such a file, in pieces. */
async function* pieces(bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for (let index = 0; bytes < bytesMax; ) {
    let piece = index === 0 ? 'id,name,title,created_at,email\n' : ''
    while (piece.length < partBytes) piece += wideLineOf(index++)
    const part = Buffer.from(piece)
    if (bytes + part.length > bytesMax) return
    bytes += part.length
    yield part
  }
}

/**
 * An import of a million lines ÷ ClickHouse inserting the same file by one statement, as members into the
 * same table, unchecked and uncounted. For comparison also as texts into a table that is sorted by them.
 * Processor times are shown too, because other work on the machine changes them less. Also the memory that
 * this process adds while it saves and imports 1 GiB.
 */
export async function lists(bench: Bench): Promise<Row[]> {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-bench-lists-'))
  const onRestart = (reason: string) => bench.log(reason)
  const [clickhouseServer, postgresServer] = await Promise.all([
    startLocalClickHouse(join(directory, 'clickhouse'), onRestart),
    startLocalPostgres(join(directory, 'postgres'), onRestart),
  ])
  const store = { url: clickhouseServer.url, database: 'bench', postgresUrl: postgresServer.url }
  await migrateClickHouse(store.url, store.database)
  const clickhouse = openClickHouse(store.url, store.database)
  const postgres = openPostgres(store.postgresUrl, () => {})
  try {
    await migratePostgres(postgres)
    const [organizationId, projectId] = [randomUUID(), randomUUID()]
    await postgres.query("INSERT INTO organizations (organization_id, name) VALUES ($1, 'Bench')", [
      organizationId,
    ])
    await postgres.query(
      "INSERT INTO projects (project_id, organization_id, name) VALUES ($1, $2, 'Bench')",
      [projectId, organizationId],
    )
    const demo = { organization_id: organizationId, project_id: projectId, pixel_id: randomUUID() }
    await makePeople(store, demo as Parameters<typeof makePeople>[1], bench.sizes)
    const uploads = openUploads(directory, randomUUID())
    const allowance = createAllowance({ postgres, perDay: 2_000, now: Date.now })
    const stores = { live: clickhouse, test: clickhouse }
    const deps = { postgres, clickhouse: stores, uploads, allowance }

    const measure = async <T>(work: () => Promise<T>): Promise<Cost & { result: T }> => {
      const [startedAt, before] = [performance.now(), processorMs(clickhouseServer.pid()!)]
      const result = await work()
      const after = processorMs(clickhouseServer.pid()!)
      return { result, ms: performance.now() - startedAt, processorMs: after - before }
    }
    const importFile = async (bytes: AsyncIterable<Buffer>) => {
      const [listId, importId] = [randomUUID(), randomUUID()]
      const startedAt = performance.now()
      const saved = await saveUpload(uploads, importId, {
        format: 'csv',
        kind: 'emails',
        column: undefined,
        bytes,
      })
      const saveMs = performance.now() - startedAt
      const { result, ...cost } = await measure(async () => {
        await createList(postgres, { listId, projectId, name: 'Bench', kind: 'emails' })
        await storeImport(postgres, { importId, listId, ...saved })
        return runImport(deps, importId)
      })
      await dropRows(clickhouse, listId)
      return { saveMs, cost, counts: result! }
    }

    await clickhouse.command({
      sql: `CREATE TABLE raw_lines (email String) ENGINE = MergeTree ORDER BY email
            SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
      params: {},
    })
    const file = Buffer.from(
      `email\n${Array.from({ length: lines }, (_, index) => lineOf(index)).join('')}`,
    )
    const insertTexts = async (): Promise<Cost> => {
      const cost = await measure(() =>
        clickhouse.feed({ sql: 'INSERT INTO raw_lines (email) FORMAT CSV', params: {} }, file),
      )
      await clickhouse.command({ sql: 'TRUNCATE TABLE raw_lines', params: {} })
      return cost
    }
    const insertMembers = async (): Promise<Cost> => {
      const listId = randomUUID()
      const query = {
        sql: `INSERT INTO list_members (list_id, import_id, organization_id, hem_number)
              SELECT {listId:UUID}, {importId:UUID}, {organizationId:UUID}, reinterpretAsUInt256(SHA256(lower(email)))
              FROM input('email String') FORMAT CSV`,
        params: { listId, importId: randomUUID(), organizationId },
      }
      // As imports have it; by default it takes twice as long.
      const cost = await measure(() => clickhouse.feed(query, file, { optimize_on_insert: 0 }))
      await dropRows(clickhouse, listId)
      return cost
    }
    const whole = async function* () {
      yield file
    }
    await insertMembers()
    await importFile(whole())
    const rounds: {
      texts: Cost
      members: Cost
      imported: Awaited<ReturnType<typeof importFile>>
    }[] = []
    // One after the other, so that what else the machine does is in all of them.
    for (let repeat = 0; repeat < bench.repeats; repeat++) {
      const [texts, members] = [await insertTexts(), await insertMembers()]
      rounds.push({ texts, members, imported: await importFile(whole()) })
    }
    const of = (number: (round: (typeof rounds)[number]) => number) => median(rounds.map(number))
    const { counts } = rounds[0]!.imported
    const speed = (cost: keyof Cost, raw: 'texts' | 'members') =>
      of((round) => round[raw][cost] / round.imported.cost[cost]).toFixed(2)
    const ms = (number: (round: (typeof rounds)[number]) => number) => `${of(number).toFixed(0)} ms`

    bench.log(
      `raw ÷ import ${speed('ms', 'members')}, of processor time ${speed('processorMs', 'members')}; now 1 GiB`,
    )
    global.gc?.()
    const before = process.memoryUsage().rss
    let most = before
    const timer = setInterval(() => {
      most = Math.max(most, process.memoryUsage().rss)
    }, 20)
    const large = await importFile(pieces(largeBytes)).finally(() => clearInterval(timer))
    const { total, matched, unmatched, duplicate, rejected } = counts
    const isExact =
      total === lines &&
      total === matched + unmatched + duplicate + rejected &&
      rejected === lines / brokenEvery
    return [
      {
        what: 'raw insert of the members ÷ list import (speed of the import)',
        value: speed('ms', 'members'),
        target: '≥ 0.8',
        detail:
          `raw ${ms(({ members }) => members.ms)}, import ${ms(({ imported }) => imported.cost.ms)}, saving the upload ` +
          `${ms(({ imported }) => imported.saveMs)}; ${lines} lines, ${bench.sizes.profiles} profiles, ${bench.repeats} rounds`,
      },
      {
        what: 'the same of processor time',
        value: speed('processorMs', 'members'),
        target: '-',
        detail: `raw ${ms(({ members }) => members.processorMs)}, import ${ms(({ imported }) => imported.cost.processorMs)}`,
      },
      {
        what: 'raw insert of the texts alone ÷ list import',
        value: speed('ms', 'texts'),
        target: '-',
        detail: `neither hashed nor checked nor counted: ${ms(({ texts }) => texts.ms)}; of processor time ${speed('processorMs', 'texts')}`,
      },
      {
        what: 'its four counters add up to the lines of the file',
        value: isExact ? 'yes' : 'no',
        target: 'yes',
        detail: JSON.stringify(counts),
      },
      {
        what: 'memory of Node while 1 GiB is saved and imported',
        value: `${((most - before) / 1024 ** 2).toFixed(0)} MB more`,
        target: '≤ 64 MB',
        detail: `${large.counts.total} lines: saved in ${(large.saveMs / 1000).toFixed(0)} s, imported in ${(large.cost.ms / 1000).toFixed(0)} s`,
      },
    ]
  } finally {
    await clickhouse.close()
    await postgres.end()
    await Promise.all([clickhouseServer.stop(), postgresServer.stop()])
    rmSync(directory, { recursive: true, force: true })
  }
}
