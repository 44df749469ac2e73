import type { Config } from '../../config.ts'
import { openPostgres } from '../../platform/postgres/pool.ts'
import { withServers } from '../servers.ts'
import { examineClickHouse, examineShards } from './checkClickHouse.ts'
import { examineLog } from './checkLog.ts'
import { examineMail } from './checkMail.ts'
import { examinePostgres } from './checkPostgres.ts'
import { askAll, type Finding } from './finding.ts'
import { examineFiles, examineMachine } from './machine.ts'

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
    const found = await askAll('PostgreSQL', 'DATABASE_URL', () =>
      examinePostgres(postgres, postgresUrl, config),
    )
    report(found)
    // Of a server that does not answer, nothing is in order.
    const available = found.some(({ ok }) => ok) ? postgres : null
    report(await examineLog(config.nats, available))
    if (available)
      report(
        await askAll('the shards of ClickHouse', 'DATABASE_URL', () =>
          examineShards(clickhouse, config.clickhouseDatabase, available),
        ),
      )
    report(await examineClickHouse(clickhouse, config.clickhouseDatabase))
    report(await examineFiles(config))
    report(await examineMail(config))
    // A connection that hangs must not keep the command from its end.
    void postgres.end()
    const troubles = findings.filter(({ ok }) => !ok).length
    console.log(troubles === 0 ? 'All is well.' : `${troubles} of ${findings.length} need a look.`)
    return troubles === 0
  })
