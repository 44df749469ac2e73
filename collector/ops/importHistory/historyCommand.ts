import { parseArgs } from 'node:util'
import { isUuid } from '../../../schemas/uuid.ts'
import type { Config } from '../../config.ts'
import { openProgressBar } from '../../identity/load/progressBar.ts'
import { openFile } from '../../identity/load/source.ts'
import { openDatabase } from '../../platform/clickhouse/cluster.ts'
import { openPostgres, type Postgres } from '../../platform/postgres/pool.ts'
import { StartError } from '../../platform/startError.ts'
import { formatNotKept, requireImported } from '../importEvents/importCommand.ts'
import { withServers } from '../servers.ts'
import { importHistory } from './importHistory.ts'
import { tableOf, tables } from './plausible.ts'

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
