/** Logins without a required grant: the error names it, instead of endless retries. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { migrateClickHouse } from '../../collector/platform/clickhouse/migrate.ts'
import { migratePostgres } from '../../collector/platform/postgres/migrate.ts'
import { openPostgres } from '../../collector/platform/postgres/pool.ts'
import { StartError } from '../../collector/platform/startError.ts'
import { newEmptyPostgresDatabase, randomName } from '../harness/databases.ts'

test.each([
  [
    "Not enough privileges. To execute this query, it's necessary to have the grant CREATE DATABASE ON footfall.*. (ACCESS_DENIED)",
    'GRANT CREATE DATABASE ON footfall.*;',
  ],
  [
    "Not enough privileges. To execute this query, it's necessary to have the grant SELECT(name) ON footfall.migrations. Missing permissions: SELECT ON footfall.migrations. (ACCESS_DENIED)",
    'GRANT SELECT(name) ON footfall.migrations;',
  ],
])(
  'ClickHouse’s refusal is the end of a start, and names the grant (%#)',
  async (refusal, grant) => {
    // As ClickHouse words it: the local server keeps no logins that a test could make.
    const server = createServer((request, answer) => {
      request.resume()
      answer.writeHead(403, { 'x-clickhouse-exception-code': '497', 'content-type': 'text/plain' })
      answer.end(`Code: 497. DB::Exception: collector: ${refusal} (version 26.7.3.1)`)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const refused = migrateClickHouse(`http://collector:secret@127.0.0.1:${port}`, 'footfall')
    await expect(refused).rejects.toThrow(StartError)
    await expect(refused).rejects.toThrow(
      `the login of CLICKHOUSE_URL needs a grant of ClickHouse: ${grant}`,
    )
  },
)

test('PostgreSQL: a login that may make no tables, or no schema of jobs, is told the statements that help', async () => {
  const url = new URL(await newEmptyPostgresDatabase())
  const database = url.pathname.slice(1)
  const login = randomName()
  const owner = openPostgres(url.href, () => {})
  onTestFinished(async () => {
    await owner.query(`DROP OWNED BY ${login}; DROP ROLE ${login}`)
    await owner.end()
  })
  await owner.query(`CREATE ROLE ${login} LOGIN PASSWORD 'secret'`)
  url.username = login
  url.password = 'secret'
  const refusal = async () => {
    const postgres = openPostgres(url.href, () => {})
    const error = await migratePostgres(postgres).then(
      () => null,
      (reason: Error) => reason,
    )
    await postgres.end()
    return error
  }

  const first = await refusal()
  expect(first).toBeInstanceOf(StartError)
  const [, statements] = first!.message.split('needs a grant of PostgreSQL: ')
  expect(statements!.split('; ')).toEqual([
    `GRANT CREATE, USAGE ON SCHEMA public TO "${login}"`,
    `GRANT CREATE ON DATABASE "${database}" TO "${login}"`,
  ])
  await owner.query(statements!)
  expect(await refusal()).toBeNull()
})
