/** Audiences of lists: whom a leaf names, of people and of companies, and what keeps a list from being deleted. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildNow } from '../../../../collector/audiences/builder/buildNow.ts'
import { deleteList } from '../../../../collector/audiences/lists/lists.ts'
import { reloadIdentity } from '../../../../collector/identity/store/refresh.ts'
import { hemOf } from '../../../../collector/platform/hem.ts'
import { inTransaction } from '../../../../collector/platform/postgres/transaction.ts'
import { storeProject } from '../../../harness/owners.ts'
import { insertRows } from '../../../harness/rows.ts'
import { linkOf, organizationId, projectId } from '../../events/harness.ts'
import { openAudiences } from '../harness.ts'
import { importInto } from './harness.ts'

let audiences: Awaited<ReturnType<typeof openAudiences>>
let lists: ReturnType<typeof importInto>
const cookie = randomUUID()
const people = ['ada', 'ben', 'cy'].map((name) => `${name}@leaf.example`)
const [ada, ben, cy] = people.map(hemOf) as [string, string, string]

beforeAll(async () => {
  audiences = await openAudiences()
  lists = importInto(audiences, projectId)
  const insert = (table: string, rows: readonly object[]) =>
    insertRows(audiences.clickhouse.live, table, rows)
  await insert('profiles', [
    { hem: ada, company_domain: 'one.example', job_seniority: 'director' },
    { hem: ben, company_domain: 'two.example', job_seniority: 'director' },
    { hem: cy, company_domain: 'one.example', job_seniority: 'manager' },
  ])
  await insert('companies', [{ company_domain: 'one.example' }, { company_domain: 'two.example' }])
  await insert('identity_links', [linkOf(cookie, cy)])
  await reloadIdentity(audiences.clickhouse.live)
})
afterAll(async () => {
  lists.removeFiles()
  await audiences.close()
})

const listOf = async (kind: 'emails' | 'hems' | 'domains' | 'cookies', ...items: string[]) =>
  (await lists.importFile(`${items.join('\n')}\n`, { kind })).listId
const leaf = (listId: string) => ({ list: { list_id: listId } })
const membersOf = async (definition: Record<string, unknown>) =>
  audiences.membersOf(await audiences.build(await audiences.create(definition)))

test('lists of e-mails, hems, cookies and domains are people', async () => {
  const include = async (listId: string) => membersOf({ entity: 'people', include: leaf(listId) })
  expect((await include(await listOf('emails', people[0]!, 'new@leaf.example'))).sort()).toEqual(
    [ada, hemOf('new@leaf.example')].sort(),
  )
  expect(await include(await listOf('hems', ben))).toEqual([ben])
  expect(await include(await listOf('cookies', cookie, randomUUID()))).toEqual([cy])
  expect((await include(await listOf('domains', 'one.example', 'nowhere.example'))).sort()).toEqual(
    [ada, cy].sort(),
  )
})

test('lists are companies: those named, or where the people of the list work', async () => {
  const include = async (listId: string) =>
    membersOf({ entity: 'companies', include: leaf(listId) })
  expect(await include(await listOf('domains', 'one.example', 'nowhere.example'))).toEqual([
    'nowhere.example',
    'one.example',
  ])
  expect(await include(await listOf('emails', people[1]!))).toEqual(['two.example'])
  expect(await include(await listOf('cookies', cookie))).toEqual(['one.example'])
})

test('lists stand beside other leaves, several at once, and are excluded', async () => {
  const [first, second] = [
    await listOf('emails', ...people),
    await listOf('domains', 'two.example'),
  ]
  const director = { profile: { field: 'job_seniority', op: 'eq', value: 'director' } }
  expect(
    await membersOf({
      entity: 'people',
      include: { all: [leaf(first), director] },
      exclude: leaf(second),
    }),
  ).toEqual([ada])
})

test('rows of an import that is not completed, and people who are hidden, are nobody’s', async () => {
  const { listId, importId } = await lists.importFile(`${people[0]}\n${people[1]}\n`)
  await audiences.postgres.query(
    "UPDATE list_imports SET status = 'processing', completed_at = NULL WHERE import_id = $1",
    [importId],
  )
  expect(await membersOf({ entity: 'people', include: leaf(listId) })).toEqual([])
  await audiences.postgres.query(
    "UPDATE list_imports SET status = 'completed' WHERE import_id = $1",
    [importId],
  )
  const erase = (by: string | null) =>
    audiences.postgres.query('INSERT INTO erasures (organization_id, hem) VALUES ($1, $2)', [
      by,
      ada,
    ])
  await erase(null)
  expect(await membersOf({ entity: 'people', include: leaf(listId) })).toEqual([ben])
  await audiences.postgres.query('DELETE FROM erasures')
  // A person whom only this organization erases stays in builds, whose counts are free, and is removed from
  // reads.
  const id = await audiences.create({ entity: 'people', include: leaf(listId) })
  await audiences.build(id)
  await erase(organizationId)
  const records = await audiences.app.inject({
    method: 'GET',
    url: `/api/v1/audiences/${id}/records`,
    headers: { 'x-project-id': projectId },
  })
  expect(records.json().results.map(({ hem }: { hem: string }) => hem)).toEqual([ben])
  await audiences.postgres.query('DELETE FROM erasures')
})

test('a list of another project, or none, is refused with its pointer', async () => {
  const other = randomUUID()
  await storeProject(audiences.postgres, other, organizationId, 'Other')
  const elsewhere = importInto(audiences, other)
  const { listId } = await elsewhere.importFile(`${people[0]}\n`)
  elsewhere.removeFiles()
  for (const id of [listId, randomUUID()]) {
    await expect(
      audiences.create({ entity: 'people', include: { all: [leaf(id)] } }),
    ).rejects.toMatchObject({
      status: 400,
      extra: { body: { pointer: '/definition/include/all/0/list/list_id' } },
    })
  }
})

test('a list that an audience uses is not deleted; a build that names one which is gone says so', async () => {
  const listId = await listOf('emails', people[0]!)
  const audienceId = await audiences.create(
    { entity: 'people', include: leaf(listId) },
    'Customers',
  )
  const deletion = () => inTransaction(audiences.postgres, (client) => deleteList(client, listId))
  await expect(deletion()).rejects.toMatchObject({
    status: 409,
    extra: { body: { used_by: [{ audience_id: audienceId, name: 'Customers' }] } },
  })
  const { rows } = await audiences.postgres.query<{ build_id: string }>(
    'SELECT build_id FROM audience_builds WHERE audience_id = $1',
    [audienceId],
  )
  await audiences.postgres.query('DELETE FROM audience_lists WHERE audience_id = $1', [audienceId])
  await deletion()
  await expect(buildNow(audiences, rows[0]!.build_id)).rejects.toThrow(
    `The list ${listId} in the definition was deleted`,
  )
})

test('free numbers of lists are exact, also through another audience; fewer than 25 named people show no rows', async () => {
  const api = async (method: 'GET' | 'POST', path: string, payload?: object) => {
    const url = `/api/v1/audiences${path}`
    const answer = await audiences.app.inject({
      method,
      url,
      headers: { 'x-project-id': projectId },
      ...(payload && { payload }),
    })
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`)
    return answer.json()
  }
  const director = { profile: { field: 'job_seniority', op: 'eq', value: 'director' } }
  const few = leaf(await listOf('emails', ...people))
  const known = { entity: 'people', include: { all: [few, director] } }
  const knownId = await audiences.create(known)
  await audiences.build(knownId)
  const through = { entity: 'people', include: { audience: { audience_id: knownId } } }
  const throughId = await audiences.create(through)
  await audiences.build(throughId)
  const sent = await audiences.postgres.query(
    "SELECT data -> 'count' AS count FROM outbox_messages WHERE data ->> 'audience_id' = ANY($1)",
    [[knownId, throughId]],
  )
  expect(sent.rows).toEqual([{ count: 2 }, { count: 2 }])
  for (const [definition, id] of [
    [known, knownId],
    [through, throughId],
  ] as const) {
    const sample = await api('POST', '/sample', { definition })
    expect(sample).toMatchObject({ sample: [], estimate: { count: 2 }, records_to_charge: 2 })
    expect((await api('GET', `/${id}`)).audience.count).toBe(2)
    for (const { count } of (await api('GET', `/${id}/builds`)).builds) expect(count).toBe(2)
    expect((await api('GET', `/${id}/records`)).count).toBe(2)
  }
  const others = Array.from({ length: 22 }, (_, n) => `other${n}@leaf.example`)
  const many = leaf(await listOf('emails', ...people, ...others))
  const include = { all: [many, director] }
  const sample = await api('POST', '/sample', { definition: { entity: 'people', include } })
  expect(sample).toMatchObject({ sample: [{}, {}], estimate: { count: 2 } })
})
