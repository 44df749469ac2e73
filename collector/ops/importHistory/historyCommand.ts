import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { parseArgs } from 'node:util'
import { isUuid } from '../../../schemas/uuid.ts'
import type { Config } from '../../config.ts'
import { openChunkReader } from '../../identity/load/chunkReader.ts'
import { openProgressBar } from '../../identity/load/progressBar.ts'
import { openRejectedFile } from '../../identity/load/rejectedFile.ts'
import { openFile, type Source } from '../../identity/load/source.ts'
import type { ClickHouse } from '../../platform/clickhouse/client.ts'
import { openDatabase } from '../../platform/clickhouse/cluster.ts'
import { openPostgres, type Postgres } from '../../platform/postgres/pool.ts'
import { StartError } from '../../platform/startError.ts'
import { formatNotKept, requireImported } from '../importEvents/importCommand.ts'
import { createNotKept, type NotKept } from '../importEvents/notKept.ts'
import { createProductReader } from '../importEvents/rows.ts'
import { withServers } from '../servers.ts'
import { columnsOf, type DayRow, rowsOfRecord, tableOf, tables } from './plausible.ts'

/** `footfall-server import plausible FILE…`. Throws StartError with a message of one line. */
export async function runHistoryCommand(config: Config, args: readonly string[]): Promise<void> {
  const { values, positionals } = parse(args)
  const [first] = positionals
  if (first === undefined) throw new StartError('name the FILEs of the export to import')
  const { project, 'dry-run': isDryRun } = values
  if (!isUuid(project)) throw new StartError('--project must be the UUID of the project')
  for (const path of positionals) tableOf(path)
  const sources = await Promise.all(positionals.map((path) => openFile(path, 'csv')))
  const reportPath = values.skipped ?? `${first}.skipped.ndjson`
  if (isDryRun) console.log(`${mapping}\n`)
  await withServers(config, async ({ clickhouse: address, postgresUrl }) => {
    const postgres = openPostgres(postgresUrl, () => {})
    const clickhouse = openDatabase(address, config.clickhouseDatabase)
    const bar = openProgressBar(
      process.stderr,
      sources.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
    )
    try {
      await requireProject(postgres, project)
      const request = { sources, projectId: project.toLowerCase(), isDryRun, reportPath }
      const { read, skipped, stored, days, notKept, endedEarly } = await importHistory(
        clickhouse,
        request,
        (rows, rejected, bytes) => bar.show({ rows, rejected, bytes }),
      ).finally(bar.clear)
      const count = (rows: number) => rows.toLocaleString('en')
      const period = days ? `, ${days.first} to ${days.last}` : ''
      console.log(
        [
          `${count(read)} rows read, ${count(stored)} values of days ${isDryRun ? 'can be imported; nothing was stored' : 'imported'}${period}`,
          `${count(skipped)} rows skipped${skipped > 0 ? `, see ${reportPath}` : ''}`,
          ...formatNotKept(notKept),
        ].join('\n'),
      )
      requireImported({ stored, endedEarly })
    } finally {
      await Promise.all([clickhouse.close(), postgres.end()])
    }
  })
}

const mapping = [
  'plausible → Footfall, read-only figures of days',
  ...Object.entries(tables).map(
    ([file, { columns }]) =>
      `  ${file.padEnd(27)}  ${Object.values(columns).join(', ') || 'totals: visitors, page views, sessions'}`,
  ),
].join('\n')

async function requireProject(postgres: Postgres, projectId: string): Promise<void> {
  const { rowCount } = await postgres.query('SELECT FROM projects WHERE project_id = $1', [
    projectId,
  ])
  if (rowCount === 0) throw new StartError(`--project: there is no project ${projectId}`)
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        project: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
        skipped: { type: 'string' },
      },
    })
  } catch (error) {
    throw new StartError((error as Error).message)
  }
}

interface HistoryRequest {
  readonly sources: readonly Source[]
  readonly projectId: string
  readonly isDryRun: boolean
  readonly reportPath: string
}

/** The result of an import: numbers of rows. */
interface ImportedHistory {
  readonly read: number
  readonly skipped: number
  /** Values of days that are stored. */
  readonly stored: number
  /** Days with figures; null without any. */
  readonly days: { readonly first: string; readonly last: string } | null
  /** Columns that have values and are not imported. */
  readonly notKept: NotKept
  /** Files that end within a record or an archive. */
  readonly endedEarly: readonly string[]
}

/** Values of days that a file may have; they are in memory, because rows of a file share days. */
const valuesMax = 2_000_000
const rowsOfInsert = 50_000

/**
 * Imports files of daily figures. A repeated import replaces the values of its days, so an interrupted import is
 * repeated from the start. Throws StartError for files that are not of the export.
 */
async function importHistory(
  clickhouse: ClickHouse,
  { sources, projectId, isDryRun, reportPath }: HistoryRequest,
  show: (read: number, skipped: number, bytes: number) => void,
): Promise<ImportedHistory> {
  const report = openRejectedFile(reportPath, 0)
  const importedAt = new Date().toISOString()
  let [read, skipped, stored, bytesBefore] = [0, 0, 0, 0]
  const dates: string[] = []
  const notKept = new Map<string, number>()
  const endedEarly = new Set<string>()
  for (const source of sources) {
    const table = tableOf(source.name)
    const note = () => endedEarly.add(source.name)
    const start = { bytes: 0, lines: 0 }
    const { header, chunks } = await openChunkReader(source, start, undefined, note)
    const reader = createProductReader(header, (record) => [record])
    const others = createNotKept(columnsOf(table))
    const sums = new Map<string, DayRow>()
    for await (const { bytes, lines, isTorn } of chunks) {
      if (isTorn) note()
      const rejected: Parameters<typeof report.append>[0][number][] = []
      for (const { line, row } of reader(bytes, lines)) {
        read++
        if (!isReason(row)) others.count(row)
        const rows = isReason(row) ? row.unreadable : rowsOfRecord(table, row)
        if (typeof rows === 'string') rejected.push({ file: source.name, line, reason: rows })
        else for (const one of rows) add(sums, one, source)
      }
      skipped += rejected.length
      report.append(rejected)
      show(read, skipped, bytesBefore + source.position())
    }
    for (const [name, count] of others.counts) notKept.set(name, count + (notKept.get(name) ?? 0))
    bytesBefore += source.bytes ?? 0
    const rows = [...sums.values()]
    dates.push(...periodOf(rows))
    stored += rows.length
    if (!isDryRun) await store(clickhouse, projectId, importedAt, rows)
  }
  const [first, last] = [dates.toSorted()[0], dates.toSorted().at(-1)]
  return {
    read,
    skipped,
    stored,
    days: first && last ? { first, last } : null,
    notKept,
    endedEarly: [...endedEarly],
  }
}

function periodOf(rows: readonly DayRow[]): string[] {
  if (rows.length === 0) return []
  let [first, last] = [rows[0]!.date, rows[0]!.date]
  for (const { date } of rows) {
    if (date < first) first = date
    if (date > last) last = date
  }
  return [first, last]
}

const isReason = (row: object): row is { unreadable: string } =>
  'unreadable' in row && typeof row.unreadable === 'string'

function add(sums: Map<string, DayRow>, row: DayRow, { name }: Source): void {
  const key = `${row.dimension}\n${row.date}\n${row.value}`
  const known = sums.get(key)
  if (!known && sums.size >= valuesMax)
    throw new StartError(
      `${name} has more than ${valuesMax.toLocaleString('en')} values of days. Export shorter periods`,
    )
  sums.set(key, {
    ...row,
    visitors: row.visitors + (known?.visitors ?? 0),
    page_views: row.page_views + (known?.page_views ?? 0),
    sessions: row.sessions + (known?.sessions ?? 0),
  })
}

async function store(
  clickhouse: ClickHouse,
  projectId: string,
  importedAt: string,
  rows: readonly DayRow[],
): Promise<void> {
  const shared = { project_id: projectId, source: 'plausible', imported_at: importedAt }
  for (let from = 0; from < rows.length; from += rowsOfInsert) {
    const lines = rows
      .slice(from, from + rowsOfInsert)
      .map((row) => `${JSON.stringify({ ...shared, ...row })}\n`)
    await clickhouse.insertLines('imported_days', Readable.from(lines), randomUUID())
  }
}
