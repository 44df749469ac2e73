/**
 * Files of audiences: written by jobs, checked, charged once, signed again, expired when a member is hidden.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { filesQueue } from '../../../collector/audiences/files/audienceFiles.ts'
import { requestErasure } from '../../../collector/identity/privacy/erasures.ts'
import type { ClickHouse } from '../../../collector/platform/clickhouse/client.ts'
import { openClickHouse } from '../../../collector/platform/clickhouse/openClickHouse.ts'
import { wakeQueue } from '../../../collector/platform/jobs/queue.ts'
import { openPostgres, type Postgres } from '../../../collector/platform/postgres/pool.ts'
import { randomName } from '../../harness/databases.ts'
import { type Answering, waitFor } from '../../harness/service.ts'
import { openTenant } from '../../harness/sharedApp.ts'

const people = 30
/** Where all of them work: other files store people too. */
const domain = `${randomName()}.example`

let service: Answering
let postgres: Postgres
let clickhouse: ClickHouse
beforeAll(async () => {
  const tenant = await openTenant()
  service = tenant.service
  postgres = openPostgres(tenant.env.DATABASE_URL!, () => {})
  clickhouse = openClickHouse(tenant.env.CLICKHOUSE_URL!, tenant.env.CLICKHOUSE_DATABASE!)
  await clickhouse.command({
    sql: `INSERT INTO profiles (hem, first_name, company_domain)
          SELECT lower(hex(SHA256(concat('p', toString(number), '@', {domain:String})))), multiIf(number = 3, 'A "quoted", name\nof two lines', number = 4, '=SUM(1)', concat('N', toString(number))), {domain:String}
          FROM numbers({people:UInt8})`,
    params: { people, domain },
  })
}, 600_000)
afterAll(async () => {
  await Promise.all([postgres?.end(), clickhouse?.close()])
  await service?.stop()
})

const hemOf = (index: number) => createHash('sha256').update(`p${index}@${domain}`).digest('hex')

// biome-ignore lint/suspicious/noExplicitAny: answers are read as a client without our types would.
async function ask(path: string, method = 'GET', body?: unknown): Promise<any> {
  const { api_key, api_secret, project_id } = service.demo
  const answer = await fetch(`${service.url}/api/v1/${path}`, {
    method,
    headers: {
      'x-api-key': api_key,
      'x-api-secret': api_secret,
      'x-project-id': project_id,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const said = answer.status === 204 ? null : await answer.json()
  if (!answer.ok) throw new Error(`${answer.status} ${JSON.stringify(said)}`)
  return said
}

const definition = {
  entity: 'people',
  include: { profile: { field: 'company_domain', op: 'eq', value: domain } },
}

async function create(): Promise<string> {
  const { audience } = await ask('audiences', 'POST', { name: 'At Acme', definition })
  return audience.id
}

/** Where the parts of the newest build's file lie. */
async function directoryOf(id: string): Promise<string> {
  const { rows } = await postgres.query<{ file_id: string }>(
    `SELECT file_id FROM audience_files JOIN audience_builds USING (build_id)
     WHERE audience_id = $1 ORDER BY audience_files.updated_at DESC LIMIT 1`,
    [id],
  )
  return join(service.dataDir, 'files', rows[0]!.file_id)
}

/** The answer of the first call that finds it ready. */
const ready = (id: string, format = 'csv') =>
  waitFor(
    'the files',
    async () => {
      const download = await ask(`audiences/${id}/download?format=${format}`)
      if (download.status === 'failed') throw new Error(service.output())
      return download.status === 'ready' ? download : null
    },
    60_000,
  )

async function fetchPart(url: string, headers: Record<string, string> = {}): Promise<Buffer> {
  const answer = await fetch(url, { headers })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return Buffer.from(await answer.arrayBuffer())
}

const used = async (): Promise<number> =>
  Number(
    (
      await postgres.query<{ records: string }>(
        `SELECT coalesce(sum(records), 0) AS records FROM ledger WHERE meter = 'audience' AND organization_id = $1`,
        [service.demo.organization_id],
      )
    ).rows[0]!.records,
  )

test('an audience is downloaded in three formats with the same rows, and charged once', async () => {
  const id = await create()
  const before = await used()
  const csv = await ready(id, 'csv')
  expect(csv).toMatchObject({
    audience_id: id,
    format: 'csv',
    count: people,
    meter: 'audience',
    charged: people,
    build_id: expect.any(String),
    expires_at: expect.stringMatching(/^2/),
    files: [{ name: 'part-0001.csv', rows: people }],
  })
  const urlsLastMs = Date.parse(csv.urls_expire_at) - Date.now()
  expect(urlsLastMs).toBeGreaterThan(0)
  expect(Date.parse(csv.urls_expire_at)).toBeLessThanOrEqual(Date.parse(csv.expires_at))
  const [part] = csv.files
  const bytes = await fetchPart(part.url)
  expect(bytes.length).toBe(part.bytes)
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(part.sha256)
  expect(bytes.toString()).toContain('"A ""quoted"", name\nof two lines"')

  const ndjson = await ready(id, 'ndjson')
  const rows = (await fetchPart(ndjson.files[0].url))
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(new Set(rows.map(({ hem }) => hem))).toEqual(
    new Set(Array.from({ length: people }, (_, n) => hemOf(n))),
  )
  expect(rows.find(({ hem }) => hem === hemOf(3)).first_name).toBe('A "quoted", name\nof two lines')
  expect(rows[0].last_name).toBeNull()

  const parquet = await ready(id, 'parquet')
  const file = await fetchPart(parquet.files[0].url)
  const read = await parquetReadObjects({ file: new Uint8Array(file).buffer })
  const text = (value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString() : value
  expect(read.map((row) => text(row.first_name))).toEqual(rows.map(({ first_name }) => first_name))
  expect([
    ndjson.charged,
    parquet.charged,
    (await ask(`audiences/${id}/download`)).charged,
  ]).toEqual([0, 0, 0])
  expect((await used()) - before).toBe(people)
})

test('a download by a member is in the audit log, and one with a key is not', async () => {
  const id = await create()
  await ready(id)
  const { admin_email: email, admin_password: password, organization_id } = service.demo
  const signedIn = await fetch(`${service.url}/dashboard/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
  const { project_id } = service.demo
  const answer = await fetch(
    `${service.url}/api/v1/audiences/${id}/download?project_id=${project_id}`,
    {
      headers: {
        cookie: signedIn.headers.getSetCookie()[0]!.split(';')[0]!,
        origin: service.url,
      },
    },
  )
  expect(await answer.json()).toMatchObject({ status: 'ready' })
  const { rows } = await postgres.query(
    `SELECT object_id, details ->> 'records' AS records FROM audit_log
     WHERE organization_id = $1 AND action = 'identity.download'`,
    [organization_id],
  )
  expect(rows).toEqual([{ object_id: project_id, records: String(people) }])
})

test('a CSV file has escaped formulas, unless csv_formulas=keep', async () => {
  const id = await create()
  const namesOf = async (query: string) => {
    const { files } = await ready(id, query)
    expect(files).toMatchObject([{ name: expect.stringMatching(/^part-0001\.(csv|ndjson)$/) }])
    return (await fetchPart(files[0].url)).toString()
  }
  const escaped = await namesOf('csv')
  expect(escaped).toContain(`"'=SUM(1)"`)
  expect(escaped).not.toContain('"=SUM(1)"')
  expect(await namesOf('csv&csv_formulas=escape')).toBe(escaped)
  expect(await namesOf('csv&csv_formulas=keep')).toBe(escaped.replace("'=SUM(1)", '=SUM(1)'))
  expect(await namesOf('ndjson')).toContain('"first_name":"=SUM(1)"')
})

test('a download of an edited definition that day is charged for new people only, and then paging is free', async () => {
  const exclude = { profile: { field: 'first_name', op: 'eq', value: 'N1' } }
  const { audience } = await ask('audiences', 'POST', {
    name: 'Most',
    definition: { ...definition, exclude },
  })
  const { id } = audience
  const before = await used()
  expect((await ready(id)).charged).toBe(people - 1)
  const { build_id } = (await ask(`audiences/${id}`)).audience
  await ask(`audiences/${id}`, 'PATCH', { definition })
  await waitFor(
    'the new build',
    async () => (await ask(`audiences/${id}`)).audience.build_id !== build_id,
  )
  expect((await ready(id)).charged).toBe(1)
  expect((await ask(`audiences/${id}/records`)).results).toHaveLength(people)
  expect((await used()) - before).toBe(people)
})

/** The cost of a request, by its answer and by the log of requests. */
async function costOf(path: string): Promise<[answered: number, logged: number]> {
  const { api_key, api_secret, project_id } = service.demo
  const headers = { 'x-api-key': api_key, 'x-api-secret': api_secret, 'x-project-id': project_id }
  const answer = await fetch(`${service.url}/api/v1/${path}`, { headers })
  expect(answer.status).toBe(200)
  const id = answer.headers.get('x-footfall-request-id')!
  const request = await waitFor('the log', async () => {
    const { requests } = await ask(`requests?request_id=${id}`)
    return requests[0]
  })
  return [Number(answer.headers.get('x-footfall-charged')), request.records]
}

test('what is paid is downloaded and paged again with nothing left of a limit, and the log has each charge', async () => {
  const [paged, downloaded, third] = [await create(), await create(), await create()]
  await waitFor('the build', async () => (await ask(`audiences/${paged}`)).audience.build_id)
  const page = `audiences/${paged}/records?page_size=12`
  expect(await costOf(page)).toEqual([12, 12])
  const { next_cursor } = await ask(page)
  const last = `audiences/${paged}/records?cursor=${next_cursor}`
  expect(await costOf(last)).toEqual([people - 12, people - 12])
  expect((await ready(downloaded)).charged).toBe(people)
  await waitFor('a build', async () => (await ask(`audiences/${third}`)).audience.build_id)
  const limit = (records: number | null) =>
    postgres.query(
      `INSERT INTO usage_limits VALUES ($1, 'audience', $2, NULL)
       ON CONFLICT (organization_id, meter) DO UPDATE SET daily_records = excluded.daily_records`,
      [service.demo.organization_id, records],
    )
  await limit(0)
  try {
    expect((await ready(paged)).charged).toBe(0)
    for (const path of [
      page,
      last,
      `audiences/${paged}/download`,
      `audiences/${downloaded}/records`,
    ])
      expect(await costOf(path)).toEqual([0, 0])
    await expect(ask(`audiences/${third}/records`)).rejects.toThrow('429')
    await expect(ready(third, 'ndjson')).rejects.toThrow('429')
  } finally {
    await limit(null)
  }
  // The charge of a download is in the log under its own request.
  await expect
    .poll(() => costOf(`audiences/${third}/download?format=ndjson`), { timeout: 60_000 })
    .toEqual([people, people])
})

test('addresses are signed anew at each call, take Range, and are nothing once a byte is changed', async () => {
  const id = await create()
  const [first] = (await ready(id)).files
  const whole = await fetchPart(first.url)
  const ranged = await fetch(first.url, {
    headers: { range: 'bytes=2-9', 'accept-encoding': 'gzip' },
  })
  expect([ranged.status, ranged.headers.get('content-range')]).toEqual([
    206,
    `bytes 2-9/${whole.length}`,
  ])
  expect(Buffer.from(await ranged.arrayBuffer())).toEqual(whole.subarray(2, 10))
  await new Promise((resolve) => setTimeout(resolve, 5))
  expect((await ready(id)).files[0].url).not.toBe(first.url)
  const at = first.url.length - 3
  const changed =
    first.url.slice(0, at) + (first.url[at] === 'A' ? 'B' : 'A') + first.url.slice(at + 1)
  expect((await fetch(changed)).status).toBe(404)
  expect((await fetch(first.url.replace('part-0001', 'part-0002'))).status).toBe(404)
})

test('a file is given out no more from the moment at which somebody in it opts out, and is deleted', async () => {
  const id = await create()
  const download = await ready(id)
  const directory = await directoryOf(id)
  expect(readdirSync(directory)).toEqual(['part-0001.csv'])
  await ask('privacy/opt-outs', 'POST', { hem: hemOf(5) })
  expect((await fetch(download.files[0].url)).status).toBe(410)
  await waitFor('the bytes to go', () => !existsSync(directory), 30_000)
  expect((await fetch(download.files[0].url)).status).toBe(410)

  const anew = await ready(id)
  expect(anew).toMatchObject({ build_id: download.build_id, count: people - 1, charged: 0 })
  expect((await fetchPart(anew.files[0].url)).toString()).not.toContain(hemOf(5))
})

test('people who were hidden in a file are charged in a later file that shows them', async () => {
  const id = await create()
  const before = await used()
  const hidden = [hemOf(8), hemOf(9)]
  await waitFor('the build', async () => (await ask(`audiences/${id}`)).audience.build_id !== null)
  for (const hem of hidden) await ask('privacy/opt-outs', 'POST', { hem })
  const first = await ready(id, 'csv')
  const visible = first.count
  expect(visible).toBeLessThanOrEqual(people - hidden.length)
  expect(first.charged).toBe(visible)
  for (const hem of hidden) await ask('privacy/opt-outs', 'DELETE', { hem })
  // Each file on the way may show one person more, and is charged for that person.
  let charged = 0
  await waitFor('the other file', async () => {
    const later = await ready(id, 'ndjson')
    charged += later.charged
    return later.count === visible + hidden.length
  })
  expect(charged).toBe(hidden.length)
  expect((await ready(id, 'csv')).charged).toBe(0)
  expect((await used()) - before).toBe(visible + hidden.length)
})

test('the bytes of an audience’s files are deleted with it', async () => {
  const id = await create()
  const { files } = await ready(id)
  const directory = await directoryOf(id)
  expect(existsSync(directory)).toBe(true)
  await ask(`audiences/${id}`, 'DELETE')
  expect((await fetch(files[0].url)).status).toBe(410)
  await waitFor('the bytes to go', () => !existsSync(directory), 30_000)
  const leftovers = async () =>
    (await postgres.query('SELECT FROM audience_file_leftovers')).rowCount
  await waitFor('the note of them to go', async () => (await leftovers()) === 0, 30_000)
})

test('whoever is erased and has not opted out is gone from samples, pages, files and explanations at once', async () => {
  const id = await create()
  const { files } = await ready(id)
  const erased = hemOf(7)
  const before = await ask(`audiences/${id}/records`)
  expect(before.results.map(({ hem }: { hem: string }) => hem)).toContain(erased)
  const shown = before.results.length
  expect((await ask('audiences/sample', 'POST', { definition })).estimate.count).toBe(shown)
  // As the operator does it: nobody is on a list of who has opted out.
  await requestErasure(postgres, null, { hem: erased })
  expect((await fetch(files[0].url)).status).toBe(410)
  const after = await ask(`audiences/${id}/records`)
  expect(after.results.length).toBe(before.results.length - 1)
  expect(after.results.map(({ hem }: { hem: string }) => hem)).not.toContain(erased)
  expect((await ask('audiences/sample', 'POST', { definition })).estimate.count).toBe(shown - 1)
  expect(await ask(`audiences/${id}/explain?hem=${erased}`)).toEqual({
    ...(await ask(`audiences/${id}/explain?hem=${'f'.repeat(64)}`)),
  })
  expect((await fetchPart((await ready(id)).files[0].url)).toString()).not.toContain(erased)
})

test('a file that was left half-way by a kill is written whole', async () => {
  const id = await create()
  await ready(id)
  const { rows } = await postgres.query<{ file_id: string }>(
    `UPDATE audience_files SET status = 'unloading', parts = '[]', verified_at = NULL
     WHERE build_id = (SELECT current_build_id FROM audiences WHERE audience_id = $1) RETURNING file_id`,
    [id],
  )
  await wakeQueue(postgres, filesQueue)
  const download = await ready(id)
  expect(download.files.length).toBe(1)
  expect(readdirSync(join(service.dataDir, 'files', rows[0]!.file_id))).toEqual(['part-0001.csv'])
  expect(readdirSync(join(service.dataDir, 'files', 'temporary'))).toEqual([])
})
