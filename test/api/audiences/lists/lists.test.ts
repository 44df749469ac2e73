// biome-ignore-all lint/suspicious/noExplicitAny: what a test expects of an answer is what it checks.
/** Lists over HTTP, of a service that imports what is uploaded. */
import { randomUUID } from 'node:crypto'
import { readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { withLease } from '../../../../collector/platform/postgres/lease.ts'
import { waitFor } from '../../../harness/service.ts'
import { type Headers, openTenants, type Tenants } from '../../../harness/tenants.ts'

let tenants: Tenants
beforeAll(async () => {
  tenants = await openTenants()
})
afterAll(() => tenants.close())

interface Asked {
  method?: string
  key?: Headers
  type?: string
  body?: NonNullable<RequestInit['body']>
  headers?: Headers
}

async function ask(path: string, { method = 'GET', key, type, body, headers }: Asked = {}) {
  const answer = await fetch(`${tenants.service.url}${path}`, {
    method,
    headers: {
      ...(key ?? tenants.keys.organization),
      ...(type && { 'content-type': type }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  })
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? null : (JSON.parse(text) as any) }
}

const lists = '/api/v1/lists'
const send = (method: string, path: string, json: unknown, key?: Headers) =>
  ask(path, { method, type: 'application/json', body: JSON.stringify(json), ...(key && { key }) })
const queryOf = (more: Record<string, string> = {}) =>
  new URLSearchParams({
    project_id: tenants.first.projectId,
    name: 'Customers',
    kind: 'emails',
    ...more,
  })

/** The import of an answer, when it is over. */
const imported = async ({ status, body }: { status: number; body: any }): Promise<any> => {
  expect({ status, body }).toMatchObject({ status: 202, body: { import: { status: 'pending' } } })
  return waitFor(
    'the import',
    async () => {
      const answer = await ask(`${lists}/${body.list.id}/imports/${body.import.id}`)
      return /completed|failed/.test(answer.body.import.status) && answer.body.import
    },
    120_000,
  )
}
const newList = (items: unknown[], more: object = {}) =>
  send('POST', lists, {
    project_id: tenants.first.projectId,
    name: 'Customers',
    kind: 'emails',
    items,
    ...more,
  })

const rowsOf = async (listId: string): Promise<number> => {
  const [row] = await tenants.clickhouse.rows<{ rows: number }>({
    sql: 'SELECT count() AS rows FROM list_members WHERE list_id = {listId:UUID}',
    params: { listId },
  })
  return row!.rows
}

describe('POST /api/v1/lists', () => {
  test('takes items in JSON: 202, an import that ends, and its four counters', async () => {
    const answer = await newList(['a@http.example', 'A@http.example', 'wrong', 7])
    expect(answer.body).toEqual({
      list: {
        id: expect.any(String),
        project_id: tenants.first.projectId,
        name: 'Customers',
        kind: 'emails',
        count: 0,
        version: 1,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
      import: { id: expect.any(String), status: 'pending' },
    })
    expect(await imported(answer)).toEqual({
      id: answer.body.import.id,
      list_id: answer.body.list.id,
      status: 'completed',
      progress: 1,
      rows_total: 4,
      rows_matched: 0,
      rows_unmatched: 1,
      rows_duplicate: 1,
      rows_rejected: 2,
      error: null,
      created_at: expect.any(String),
      completed_at: expect.any(String),
    })
    const { id } = answer.body.list
    expect((await ask(`${lists}/${id}`)).body.list).toMatchObject({ count: 1 })
    expect((await ask(`${lists}/${id}/imports`)).body.imports).toHaveLength(1)
    expect((await ask(`${lists}/${id}/imports/${answer.body.import.id}/rejected`)).body).toEqual({
      rejected: [
        {
          line: 3,
          reason: 'not_an_email',
          index: 2,
          path: '',
          code: 'not_an_email',
          message: expect.any(String),
        },
        {
          line: 4,
          reason: 'no_value',
          index: 3,
          path: '',
          code: 'no_value',
          message: expect.any(String),
        },
      ],
    })
  })

  test('counts as matched exactly what a batch lookup of the same items then charges', async () => {
    const addresses = Array.from({ length: 12 }, (_, n) => `m${n}-${randomUUID()}@match.example`)
    const profiles = addresses
      .filter((_, n) => n % 3 === 0)
      .map((address) => JSON.stringify({ hem: hemOf(address), first_name: 'Known' }))
    await tenants.clickhouse.feed(
      { sql: 'INSERT INTO profiles FORMAT JSONEachRow', params: {} },
      Buffer.from(`${profiles.join('\n')}\n`),
    )
    const counted = await imported(await newList(addresses))
    const batch = await send('POST', '/api/v1/lookup/batch', {
      items: addresses.map((email, id) => ({ id: String(id), email })),
    })
    expect(counted).toMatchObject({ rows_matched: 4, rows_unmatched: 8 })
    expect(batch.body.charged).toBe(counted.rows_matched)
  })

  test('omits the matches while the free answers of the day are used up, and imports all the same', async () => {
    const allow = (perDay: number | null) =>
      tenants.postgres.query(
        `INSERT INTO billing_accounts (organization_id, free_answers_per_day)
         SELECT organization_id, $2 FROM projects WHERE project_id = $1
         ON CONFLICT (organization_id) DO UPDATE SET free_answers_per_day = excluded.free_answers_per_day`,
        [tenants.first.projectId, perDay],
      )
    await allow(0)
    try {
      const counted = await imported(await newList(['a@used.example', 'none']))
      expect(counted).toMatchObject({ status: 'completed', rows_total: 2, rows_rejected: 1 })
      expect(counted).not.toHaveProperty('rows_matched')
      expect(counted).not.toHaveProperty('rows_unmatched')
      const { rows } = await tenants.postgres.query<{ numbers_from: Date }>(
        'SELECT numbers_from FROM list_imports WHERE import_id = $1',
        [counted.id],
      )
      expect(rows[0]!.numbers_from.getTime() % 86_400_000).toBe(0)
      await tenants.postgres.query(
        'UPDATE list_imports SET numbers_from = now() WHERE import_id = $1',
        [counted.id],
      )
      const { body } = await ask(`${lists}/${counted.list_id}/imports/${counted.id}`)
      expect(body.import).toMatchObject({ rows_matched: 0, rows_unmatched: 1 })
    } finally {
      await allow(null)
    }
  })

  test.each<[string, unknown]>([
    ['an object', { no: 'email' }],
    ['an object of other columns', { id: 7, name: 'Ada' }],
    ['an array', ['a@http.example']],
    ['null', null],
    ['longer than any line may be', 'x'.repeat(70_000)],
  ])('whose first item is %s costs that item alone', async (_what, first) => {
    const answer = await newList([first, 'a@http.example', { email: 'b@http.example' }])
    expect(await imported(answer)).toMatchObject({
      rows_total: 3,
      rows_unmatched: 2,
      rows_rejected: 1,
    })
    const { list, import: of } = answer.body
    const { rejected } = (await ask(`${lists}/${list.id}/imports/${of.id}/rejected`)).body
    expect(rejected).toMatchObject([{ line: 1 }])
  })

  test.each<[string, () => Asked & { query?: Record<string, string> }]>([
    ['CSV', () => ({ type: 'text/csv', body: 'name,email\nAda,a@http.example\n' })],
    [
      'CSV with the column named',
      () => ({
        type: 'text/csv; charset=utf-8',
        query: { column: 'e' },
        body: 'e\na@http.example\n',
      }),
    ],
    ['NDJSON', () => ({ type: 'application/x-ndjson', body: '{"email":"a@http.example"}\n' })],
    [
      'CSV with Content-Encoding: gzip',
      () => ({
        type: 'text/csv',
        headers: { 'content-encoding': 'gzip' },
        body: gzipSync('a@http.example\n'),
      }),
    ],
    ['a gzip file', () => ({ type: 'text/csv', body: gzipSync('a@http.example\n') })],
    [
      'a form',
      () => {
        const form = new FormData()
        form.set('column', 'mail')
        form.set(
          'file',
          new Blob(['mail\na@http.example\n'], { type: 'text/csv' }),
          'customers.csv',
        )
        return { body: form }
      },
    ],
    [
      'a form with a packed file of NDJSON',
      () => {
        const form = new FormData()
        form.set('file', new Blob([gzipSync('"a@http.example"\n')]), 'customers.ndjson.gz')
        return { body: form }
      },
    ],
  ])('takes %s', async (_what, asked) => {
    const { query, ...rest } = asked()
    const answer = await ask(`${lists}?${queryOf(query)}`, { method: 'POST', ...rest })
    expect(await imported(answer)).toMatchObject({ rows_total: 1, rows_unmatched: 1 })
  })

  test('is there without /api, and with Authorization: Bearer', async () => {
    const { 'x-api-key': key, 'x-api-secret': secret } = tenants.keys.organization
    const headers = { authorization: `Bearer ${key}`, 'x-api-secret': secret! }
    const answer = await fetch(`${tenants.service.url}/v1/lists?${queryOf()}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'text/csv' },
      body: 'bearer@http.example\n',
    })
    expect(answer.status).toBe(202)
    const { list } = (await answer.json()) as any
    const read = await fetch(`${tenants.service.url}/v1/lists/${list.id}`, { headers })
    expect(((await read.json()) as any).list.id).toBe(list.id)
  })

  test.each<[string, Asked & { query?: Record<string, string> }, number, object]>([
    [
      'no name',
      { type: 'text/csv', query: { name: '' }, body: 'a@b.example' },
      400,
      { parameter: 'name' },
    ],
    [
      'an unknown kind',
      { type: 'text/csv', query: { kind: 'shoes' }, body: 'a' },
      400,
      { parameter: 'kind' },
    ],
    [
      'an unknown parameter',
      { type: 'text/csv', query: { colour: 'red' }, body: 'a' },
      400,
      { parameter: 'colour' },
    ],
    [
      'a column that cannot be stored',
      {
        type: 'application/x-ndjson',
        query: { column: 'a\0b' },
        body: '{"a\\u0000b":"a@b.example"}',
      },
      400,
      { parameter: 'column' },
    ],
    [
      'a form that is none',
      { type: 'multipart/form-data', body: 'x' },
      400,
      { error: 'malformed' },
    ],
    ['an empty body', { type: 'text/csv', body: '' }, 400, { error: 'malformed' }],
    ['another type', { type: 'text/html', body: '<p>' }, 415, { error: 'unsupported_media_type' }],
    [
      'no items',
      { type: 'application/json', body: '{"name":"X","kind":"emails","items":[]}' },
      400,
      { parameter: 'items' },
    ],
    [
      'another project',
      { type: 'text/csv', query: { project_id: randomUUID() }, body: 'a' },
      404,
      {},
    ],
  ])('refuses %s', async (_what, { query, ...asked }, status, body) => {
    const isJson = asked.type === 'application/json'
    const path = isJson ? lists : `${lists}?${queryOf(query)}`
    expect(await ask(path, { method: 'POST', ...asked })).toMatchObject({ status, body })
  })

  test('says that a form breaks off, and keeps nothing of it', async () => {
    const body =
      '--x\r\nContent-Disposition: form-data; name="f"; filename="f.csv"\r\n\r\nemail\na@b.exam'
    const answer = await ask(`${lists}?${queryOf()}`, {
      method: 'POST',
      type: 'multipart/form-data; boundary=x',
      body,
    })
    expect(answer).toMatchObject({ status: 400, body: { error: 'malformed' } })
  })

  test('says that a column is not there before the upload is read on', async () => {
    const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const request = httpRequest(
        `${tenants.service.url}${lists}?${queryOf({ column: 'email' })}`,
        {
          method: 'POST',
          headers: { ...tenants.keys.organization, 'content-type': 'text/csv' },
        },
      )
      request.on('response', async (response) => {
        let text = ''
        for await (const part of response) text += part
        resolve({ status: response.statusCode!, text })
        request.destroy()
      })
      request.on('error', reject)
      // And never an end.
      request.write(`mail,name\n${'x'.repeat(70_000)}\n`)
    })
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.text)).toMatchObject({
      parameter: 'column',
      message: expect.stringContaining('the file has no column "email"; it has "mail", "name"'),
    })
  })

  test('refuses an archive that expands to much more than its size', async () => {
    const answer = await ask(`${lists}?${queryOf()}`, {
      method: 'POST',
      type: 'text/csv',
      body: gzipSync('a@http.example\n'.repeat(2_000_000)),
    })
    expect(answer).toMatchObject({
      status: 413,
      body: {
        error: 'too_large',
        message: expect.stringContaining('expands to more than 100 times its size'),
      },
    })
  })

  test('leaves nothing of an upload whose client dies, and says so', async () => {
    const name = `Broken off ${randomUUID()}`
    const request = httpRequest(`${tenants.service.url}${lists}?${queryOf({ name })}`, {
      method: 'POST',
      headers: { ...tenants.keys.organization, 'content-type': 'text/csv' },
    })
    request.on('error', () => {})
    request.write(`email\n${'a@broken.example\n'.repeat(100_000)}`)
    const uploads = join(tenants.service.dataDir, 'uploads')
    await waitFor('the upload to begin', () =>
      readdirSync(uploads).some((file) => file.endsWith('.partial')),
    )
    request.destroy()
    await waitFor('the upload to be gone', () => readdirSync(uploads).length === 0)
    await waitFor('the log', () =>
      tenants.service.output().includes('an upload to a list was interrupted'),
    )
    expect(
      (await ask(`${lists}?limit=200`)).body.lists.map((list: any) => list.name),
    ).not.toContain(name)
  })
})

test('an organization of which a thousand imports wait, or 4 GiB, is asked to wait', async () => {
  const { body } = await newList(['a@waiting.example'])
  await imported({ status: 202, body })
  // Of a machine that is not there: nobody begins them.
  await tenants.postgres.query(
    `INSERT INTO list_imports (import_id, list_id, collector_id, file, bytes_done, lines_done)
     SELECT gen_random_uuid(), $1, gen_random_uuid(), '{}', 0, 0 FROM generate_series(1, 1000)`,
    [body.list.id],
  )
  const more = () =>
    send('POST', `${lists}/${body.list.id}/items`, { items: ['b@waiting.example'] })
  expect(await more()).toMatchObject({ status: 429, body: { error: 'rate_limited' } })
  expect(await newList(['b@waiting.example'])).toMatchObject({
    status: 429,
    body: { error: 'rate_limited' },
  })
  const remove = () =>
    tenants.postgres.query('DELETE FROM list_imports WHERE list_id = $1 AND lines_done = 0', [
      body.list.id,
    ])
  await remove()
  await imported(await more())

  await tenants.postgres.query(
    `INSERT INTO list_imports (import_id, list_id, collector_id, file, bytes_done, lines_done)
     SELECT gen_random_uuid(), $1, gen_random_uuid(), jsonb_build_object('bytes', 1024 ^ 3), 0, 0
     FROM generate_series(1, 4)`,
    [body.list.id],
  )
  const tooMuch = { status: 429, body: { message: expect.stringContaining('more than 4 GiB') } }
  expect(await more()).toMatchObject(tooMuch)
  await remove()
  await imported(await more())

  // Files that arrive count as well, also those of other processes.
  const { organizationId } = tenants
  const uploads = join(tenants.service.dataDir, 'uploads')
  const arriving = join(uploads, `${randomUUID()}.${organizationId}.partial`)
  writeFileSync(arriving, '')
  truncateSync(arriving, 4 * 1024 ** 3)
  await expect.poll(more).toMatchObject(tooMuch)
  rmSync(arriving)
  await expect.poll(async () => (await more()).status).toBe(202)
})

describe('a list', () => {
  test('takes more items, and gives some away, with an answer for each', async () => {
    const answer = await newList(['a@items.example', 'b@items.example'])
    await imported(answer)
    const path = `${lists}/${answer.body.list.id}`
    const more = await send('POST', `${path}/items`, {
      items: ['b@items.example', 'c@items.example'],
    })
    expect(await imported(more)).toMatchObject({
      rows_total: 2,
      rows_unmatched: 1,
      rows_duplicate: 1,
    })
    const removed = await send('DELETE', `${path}/items`, {
      items: ['A@items.example', 'a@items.example', 'nobody@items.example', 'wrong', null],
    })
    expect(removed).toMatchObject({
      status: 200,
      body: {
        removed: 1,
        not_found: 2,
        list: { count: 2 },
        rejected: [
          {
            line: 4,
            reason: 'not_an_email',
            index: 3,
            path: '',
            code: 'not_an_email',
            message: expect.any(String),
          },
          {
            line: 5,
            reason: 'no_value',
            index: 4,
            path: '',
            code: 'no_value',
            message: expect.any(String),
          },
        ],
      },
    })
    expect(
      await imported(await send('POST', `${path}/items`, { items: ['a@items.example'] })),
    ).toMatchObject({
      rows_unmatched: 1,
    })
    expect((await ask(path)).body.list.count).toBe(3)
  })

  test('gives thousands of items away at once', async () => {
    const items = Array.from({ length: 2_000 }, (_, n) => `${n}@many.example`)
    const { body } = await newList(items)
    await imported({ status: 202, body })
    const path = `${lists}/${body.list.id}`
    const removed = await send('DELETE', `${path}/items`, { items: [...items.slice(1), 'wrong'] })
    expect(removed).toMatchObject({
      status: 200,
      body: {
        removed: 1_999,
        not_found: 0,
        rejected: [{ line: 2_000, index: 1_999, reason: 'not_an_email' }],
      },
    })
    expect((await ask(path)).body.list.count).toBe(1)
  })

  test('that an import holds takes more files, is not waited for otherwise, and keeps nobody else waiting', async () => {
    const { body } = await newList(['a@held.example'])
    const path = `${lists}/${body.list.id}`
    await imported({ status: 202, body })
    await withLease(tenants.postgres, body.list.id, async () => {
      const adds = (n: number) => n % 10 === 0
      const held = Array.from({ length: 30 }, (_, n) =>
        adds(n)
          ? send('POST', `${path}/items`, { items: [`${n}@held.example`] })
          : send('DELETE', `${path}/items`, { items: ['a@held.example'] }),
      )
      expect((await ask('/api/v1/campaigns')).status).toBe(200)
      const statuses = (await Promise.all(held)).map(({ status }) => status)
      expect(statuses).toEqual(Array.from(held, (_, n) => (adds(n) ? 202 : 503)))
    })
  })

  test('is renamed by who saw its newest version, listed page by page, and written to the log', async () => {
    const { body } = await newList(['a@log.example'])
    const path = `${lists}/${body.list.id}`
    expect((await send('PATCH', path, { name: 'Renamed', version: 1 })).body.list).toMatchObject({
      name: 'Renamed',
      version: 2,
    })
    expect(await send('PATCH', path, { name: 'Again', version: 1 })).toMatchObject({
      status: 409,
      body: { error: 'conflict', list: { version: 2 } },
    })
    const seen: string[] = []
    let cursor = ''
    do {
      const page = await ask(`${lists}?limit=2${cursor && `&cursor=${cursor}`}`)
      seen.push(...page.body.lists.map((list: any) => list.id))
      cursor = page.body.next_cursor ?? ''
    } while (cursor)
    expect(new Set(seen).size).toBe(seen.length)
    expect(seen).toContain(body.list.id)
    const { rows } = await tenants.postgres.query(
      'SELECT action FROM audit_log WHERE object_id = $1 ORDER BY entry_id',
      [body.list.id],
    )
    expect(rows.map(({ action }) => action)).toEqual(['list.create', 'list.update'])
  })

  test('takes its rows with it', async () => {
    const answer = await newList(['a@gone.example', 'wrong'])
    await imported(answer)
    const { id } = answer.body.list
    expect(await rowsOf(id)).toBe(1)
    expect((await ask(`${lists}/${id}`, { method: 'DELETE' })).status).toBe(204)
    expect((await ask(`${lists}/${id}`)).status).toBe(404)
    await waitFor('its rows to go', async () => (await rowsOf(id)) === 0, 60_000)
  })

  test('loses whoever is erased', async () => {
    const answer = await newList(['erased@gone.example', 'kept@gone.example'])
    await imported(answer)
    const erasure = await send('DELETE', '/api/v1/privacy/subject', {
      email: 'erased@gone.example',
    })
    expect(erasure.status).toBe(202)
    await waitFor('the member to go', async () => (await rowsOf(answer.body.list.id)) === 1, 60_000)
  })

  test('has its rejected lines page by page', async () => {
    const wrong = Array.from({ length: 25 }, (_, index) => `wrong ${index}`)
    const answer = await newList(wrong)
    await imported(answer)
    const path = `${lists}/${answer.body.list.id}/imports/${answer.body.import.id}/rejected`
    const seen: number[] = []
    let cursor = ''
    do {
      const page = await ask(`${path}?limit=10${cursor && `&cursor=${cursor}`}`)
      seen.push(...page.body.rejected.map((row: any) => row.line))
      cursor = page.body.next_cursor ?? ''
    } while (cursor)
    expect(seen).toEqual(wrong.map((_, index) => index + 1))
    expect((await ask(`${path}?cursor=${'A'.repeat(30)}`)).status).toBe(400)
  })
})

describe('a key of one project', () => {
  test('reads and writes its own lists, and no others', async () => {
    const { first, second, keys } = tenants
    const own = await send(
      'POST',
      lists,
      { name: 'Own', kind: 'domains', items: ['own.example'] },
      keys.second,
    )
    expect(own).toMatchObject({ status: 202, body: { list: { project_id: second.projectId } } })
    const { body } = await newList(['other@project.example'])
    const listed = await ask(lists, { key: keys.second })
    expect(new Set(listed.body.lists.map((list: any) => list.project_id))).toEqual(
      new Set([second.projectId]),
    )
    for (const path of ['', '/imports', `/imports/${body.import.id}`]) {
      expect(await ask(`${lists}/${body.list.id}${path}`, { key: keys.second })).toMatchObject({
        status: 404,
        body: { error: 'list not found' },
      })
    }
    const mismatch = { status: 403, body: { error: 'project_id does not match API key scope' } }
    expect(await ask(`${lists}?project_id=${first.projectId}`, { key: keys.second })).toMatchObject(
      mismatch,
    )
    expect(
      await send(
        'POST',
        lists,
        { project_id: first.projectId, name: 'X', kind: 'emails', items: ['a'] },
        keys.second,
      ),
    ).toMatchObject(mismatch)
    for (const filter of ['audience_id', 'campaign_id']) {
      expect(await ask(`${lists}?${filter}=${randomUUID()}`, { key: keys.second })).toMatchObject({
        status: 403,
      })
      expect(await ask(`${lists}?${filter}=${randomUUID()}`)).toMatchObject({
        status: 200,
        body: { lists: [] },
      })
    }
  })
})
