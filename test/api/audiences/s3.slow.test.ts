/** Files of audiences in an S3-compatible store that nobody here wrote, through the whole service. */
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { openClickHouse } from '../../../collector/platform/clickhouse/openClickHouse.ts'
import { ownDatabases } from '../../harness/databases.ts'
import { type S3, startS3 } from '../../harness/s3.ts'
import { type Service, startService, waitFor } from '../../harness/service.ts'

const people = 9
const directory = mkdtempSync(join(tmpdir(), 'footfall-test-s3-'))
let s3: S3
let service: Service
beforeAll(async () => {
  s3 = await startS3(directory, 'files')
  const env = await ownDatabases()
  service = await startService({
    env: {
      ...env,
      FOOTFALL_S3_ENDPOINT: s3.endpoint,
      FOOTFALL_S3_BUCKET: 'files',
      FOOTFALL_S3_REGION: 'us-east-1',
      FOOTFALL_S3_ACCESS_KEY_ID: 'S3RVER',
      FOOTFALL_S3_SECRET_ACCESS_KEY: 'S3RVER',
    },
  })
  const clickhouse = openClickHouse(inject('clickhouseUrl'), env.CLICKHOUSE_DATABASE!)
  await clickhouse.command({
    sql: `INSERT INTO profiles (hem, first_name) SELECT lower(hex(SHA256(toString(number)))), 'Ann' FROM numbers({people:UInt8})`,
    params: { people },
  })
  await clickhouse.close()
}, 600_000)
afterAll(async () => {
  await service?.stop()
  await s3?.close()
  rmSync(directory, { recursive: true, force: true })
})

// biome-ignore lint/suspicious/noExplicitAny: answers are read as a client without our types would.
async function ask(path: string, method = 'GET', body?: unknown): Promise<any> {
  const { api_key, api_secret, project_id } = service.demo
  const answer = await fetch(`${service.url}/api/v1/audiences${path}`, {
    method,
    headers: {
      'x-api-key': api_key,
      'x-api-secret': api_secret,
      'x-project-id': project_id,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return answer.status === 204 ? null : answer.json()
}

test('files are written there, fetched by signed addresses, and deleted with their audience', async () => {
  const include = { profile: { field: 'first_name', op: 'eq', value: 'Ann' } }
  const { audience } = await ask('', 'POST', {
    name: 'Ann',
    definition: { entity: 'people', include },
  })
  const ready = (format: string) =>
    waitFor(
      `the ${format}`,
      async () => {
        const download = await ask(`/${audience.id}/download?format=${format}`)
        return download.status === 'ready' ? download : null
      },
      60_000,
    )
  const urls: string[] = []
  for (const format of ['csv', 'ndjson', 'parquet']) {
    const { files, count } = await ready(format)
    expect([files.length, count]).toEqual([1, people])
    const [{ url, sha256, bytes }] = files
    const body = Buffer.from(await (await fetch(url)).arrayBuffer())
    expect([body.length, createHash('sha256').update(body).digest('hex')]).toEqual([bytes, sha256])
    if (format === 'parquet')
      expect((await parquetReadObjects({ file: new Uint8Array(body).buffer })).length).toBe(people)
    urls.push(url)
  }
  // Nothing of them stays on this machine.
  expect(readdirSync(join(service.dataDir, 'files'), { recursive: true })).toEqual(['temporary'])
  await ask(`/${audience.id}`, 'DELETE')
  for (const url of urls)
    await waitFor('the object to go', async () => (await fetch(url)).status === 404, 30_000)
})
