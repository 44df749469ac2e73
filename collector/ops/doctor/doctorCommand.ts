import type { Config } from '../../config.ts'
import { openPostgres, type Postgres } from '../../platform/postgres/pool.ts'
import { withServers } from '../servers.ts'
import { examineClickHouse, examineShards } from './checkClickHouse.ts'
import { examineFiles } from './checkFiles.ts'
import { examineLog } from './checkLog.ts'
import { examinePostgres } from './checkPostgres.ts'
import { askAll, type Finding } from './finding.ts'
import { examineMachine } from './machine.ts'

/** Runs `footfall-server doctor`: prints a line for each check, and returns whether all checks passed. */
export const examine = (config: Config): Promise<boolean> =>
  withServers(config, async ({ clickhouse, postgresUrl }) => {
    const findings: Finding[] = []
    const report = (found: readonly Finding[]) => {
      for (const { ok, text } of found) console.log(`${ok ? '✓' : '✗'} ${text}`)
      findings.push(...found)
    }
    report(await examineMachine(config))
    const postgres = openPostgres(postgresUrl, () => {})
    report(await askAll('PostgreSQL', () => examinePostgres(postgres, postgresUrl, config)))
    const available = (await isAvailable(postgres)) ? postgres : null
    report(await examineLog(config.nats, available))
    if (available)
      report(
        await askAll('the shards of ClickHouse', () =>
          examineShards(clickhouse, config.clickhouseDatabase, available),
        ),
      )
    report(await examineClickHouse(clickhouse, config.clickhouseDatabase))
    report(await examineFiles(config))
    // A connection that hangs must not keep the command from its end.
    void postgres.end()
    const troubles = findings.filter(({ ok }) => !ok).length
    console.log(troubles === 0 ? 'All is well.' : `${troubles} of ${findings.length} need a look.`)
    return troubles === 0
  })

const isAvailable = async (postgres: Postgres): Promise<boolean> =>
  (await askAll('PostgreSQL', async () => postgres.query('SELECT 1').then(() => []))).length === 0
