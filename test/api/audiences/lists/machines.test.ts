/** Uploads lie on the machine that took them: of several primaries each imports its own. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listQueues } from '../../../../collector/audiences/lists/listJobs.ts'
import { removeLeftUploads } from '../../../../collector/audiences/lists/upload/cleanUploads.ts'
import { type Jobs, startJobs } from '../../../../collector/platform/jobs/startJobs.ts'
import { waitFor } from '../../../harness/service.ts'
import { importInto, openLists } from './harness.ts'

let lists: Awaited<ReturnType<typeof openLists>>
let machines: ReturnType<typeof importInto>[]
let jobs: Jobs[]

beforeAll(async () => {
  lists = await openLists()
  const { postgres, postgresUrl, clickhouse, projectId } = lists
  const stores = { postgres, clickhouse: { live: clickhouse, test: clickhouse } }
  machines = [0, 1].map(() => importInto(stores, projectId))
  const log = { warn() {} }
  jobs = []
  for (const { deps } of machines)
    jobs.push(await startJobs({ postgres, postgresUrl, queues: listQueues({ ...deps, log }), log }))
}, 600_000)
afterAll(async () => {
  await Promise.all(jobs?.map((each) => each.stop()) ?? [])
  for (const { removeFiles } of machines ?? []) removeFiles()
  await lists?.close()
})

const readImports = async () => {
  const { rows } = await lists.postgres.query<{
    import_id: string
    status: string
    error: string | null
  }>('SELECT import_id, status, error FROM list_imports')
  return new Map(rows.map((row) => [row.import_id, row]))
}
const statusesOf = async (importIds: readonly string[]) => {
  const imports = await readImports()
  return importIds.map((importId) => imports.get(importId)!.status)
}

test('whichever machine takes an upload, its import ends', async () => {
  const importIds: string[] = []
  for (let n = 0; n < 6; n++) {
    const { importId } = await machines[n % 2]!.upload(`a${n}@machines.example\n`)
    importIds.push(importId)
  }
  await waitFor(
    'the imports',
    async () => (await statusesOf(importIds)).every((status) => /completed|failed/.test(status)),
    120_000,
  )
  expect(await statusesOf(importIds)).toEqual(importIds.map(() => 'completed'))
}, 600_000)

test('an upload of a machine that is away waits for it, holds up no other, and fails when it does not come back', async () => {
  const away = importInto(lists.deps, lists.projectId)
  const { importId } = await away.upload('a@away.example\n')
  const { importId: here } = await machines[0]!.upload('b@away.example\n')
  await waitFor('the other', async () => (await statusesOf([here]))[0] === 'completed', 60_000)
  expect(await statusesOf([importId])).toEqual(['pending'])
  await lists.postgres.query(
    "UPDATE list_imports SET updated_at = now() - interval '4 days' WHERE import_id = $1",
    [importId],
  )
  await lists.postgres.query("SELECT pg_notify('footfall_jobs', 'lists.imports')")
  await waitFor('its end', async () => (await statusesOf([importId]))[0] === 'failed', 60_000)
  expect((await readImports()).get(importId)!.error).toContain('is offline. Upload the file again')
  // Both ends are reported, once each.
  const { rows } = await lists.postgres.query(
    "SELECT data FROM outbox_messages WHERE data ->> 'import_id' = ANY($1) ORDER BY created_at",
    [[here, importId]],
  )
  expect(rows).toMatchObject([
    {
      data: { import_id: here, status: 'completed', rows_total: 1, rows_unmatched: 1, error: null },
    },
    { data: { import_id: importId, status: 'failed', rows_total: 0, error: expect.any(String) } },
  ])
  away.removeFiles()
}, 600_000)

test('each machine deletes its own files that no import waits for, and no other', async () => {
  const [one, other] = [0, 1].map(() => importInto(lists.deps, lists.projectId))
  const ended = await one!.upload('a@left.example\n')
  const left = await other!.upload('b@left.example\n')
  const waiting = await one!.upload('c@left.example\n')
  await lists.postgres.query(
    "UPDATE list_imports SET status = 'failed' WHERE import_id = ANY($1)",
    [[ended.importId, left.importId]],
  )
  await removeLeftUploads({ ...one!.deps }, 0)
  expect(await one!.uploads.list(0)).toEqual([waiting.importId])
  expect(await other!.uploads.list(0)).toEqual([left.importId])
  await removeLeftUploads({ ...other!.deps }, 0)
  expect(await other!.uploads.list(0)).toEqual([])
  one!.removeFiles()
  other!.removeFiles()
})
