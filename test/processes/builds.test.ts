import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openClickHouse } from '../../collector/platform/clickhouse/openClickHouse.ts'
import { ownDatabases } from '../harness/databases.ts'
import { type Service, startService, waitFor } from '../harness/service.ts'

let env: Record<string, string>
let service: Service
beforeAll(async () => {
  env = await ownDatabases()
  service = await startService({ env })
  const clickhouse = openClickHouse(inject('clickhouseUrl'), env.CLICKHOUSE_DATABASE!)
  await clickhouse.command({
    sql: `INSERT INTO profiles (hem, company_domain)
          SELECT lower(hex(SHA256(toString(number)))), 'acme.example' FROM numbers(30)`,
    params: {},
  })
  await clickhouse.close()
})
afterAll(() => service?.stop())

async function readAudiences(path = '', body?: object) {
  const { api_key, api_secret, project_id } = service.demo
  const answer = await fetch(`${service.url}/api/v1/audiences${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      'x-api-key': api_key,
      'x-api-secret': api_secret,
      'x-project-id': project_id,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  return (await answer.json()) as { audience: { id: string; status: string; count: number } }
}

test('a build whose service was killed goes on when it starts again', async () => {
  const profile = { field: 'company_domain', op: 'eq', value: 'acme.example' }
  const { audience } = await readAudiences('', {
    name: 'At Acme',
    definition: { entity: 'people', include: { profile } },
  })
  const { dataDir } = service
  await service.end('SIGKILL')
  service = await startService({ env, dataDir })
  const built = await waitFor(
    'the build',
    async () => {
      const found = await readAudiences(`/${audience.id}`)
      return found.audience.status === 'completed' ? found.audience : null
    },
    60_000,
  )
  expect(built.count).toBe(30)
})
