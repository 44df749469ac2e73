import type { Config } from '../../config.ts'
import { withServers } from '../servers.ts'
import { examineClickHouse, examineShards } from './checkClickHouse.ts'
import { examineLog } from './checkLog.ts'
import { examinePostgres } from './checkPostgres.ts'
import { askAll } from './finding.ts'
import { examineMachine } from './machine.ts'

/** Runs `footfall-server doctor`: prints a line for each check, and returns whether all checks passed. */
export const examine = (config: Config): Promise<boolean> =>
  withServers(config, async ({ clickhouse, postgresUrl }) => {
    const findings = [
      ...(await examineMachine(config)),
      ...(await askAll('PostgreSQL', () => examinePostgres(postgresUrl, config.secretKeys))),
      ...(await askAll('NATS', () => examineLog(config.nats, postgresUrl))),
      ...(await askAll('the shards of ClickHouse', () =>
        examineShards(clickhouse, config.clickhouseDatabase, postgresUrl),
      )),
      ...(await examineClickHouse(clickhouse, config.clickhouseDatabase)),
    ]
    for (const { ok, text } of findings) console.log(`${ok ? '✓' : '✗'} ${text}`)
    const troubles = findings.filter(({ ok }) => !ok).length
    console.log(troubles === 0 ? 'All is well.' : `${troubles} of ${findings.length} need a look.`)
    return troubles === 0
  })
