/** What test keys see of lists. */
import { beforeAll, expect, test } from 'vitest'
import { sampleIdentity } from '../../../../collector/api/access/sandboxTenant.ts'
import { runImport } from '../../../../collector/audiences/lists/import/runImport.ts'
import { readUnfinishedImports } from '../../../../collector/audiences/lists/imports.ts'
import { createAllowance } from '../../../../collector/billing/allowance.ts'
import { ensureSampleLists } from '../../../../collector/ops/sandbox/sampleLists.ts'
import { waitFor } from '../../../harness/service.ts'
import { type Tenants, tenantsOfWorker, withKey } from '../../../spec/tenants.ts'

let service: Tenants
beforeAll(async () => {
  service = await tenantsOfWorker()
})

test('a test key has a sample list, imported among the sample’s people, and changes nothing', async () => {
  const { postgres, stores, uploads } = service
  await Promise.all([1, 2].map(() => ensureSampleLists(postgres, uploads)))
  await ensureSampleLists(postgres, uploads)
  const allowance = createAllowance({ postgres, perDay: 2_000, now: Date.now })
  for (const { importId } of await readUnfinishedImports(postgres))
    await runImport({ postgres, uploads, clickhouse: stores, allowance }, importId)
  const headers = withKey(service.ours.testKey)
  const listed = (await service.app.inject({ url: '/api/v1/lists', headers })).json()
  expect(listed.lists).toMatchObject([
    { id: sampleIdentity.listId, name: 'Sample customers', kind: 'hems' },
  ])
  const { imports } = (
    await service.app.inject({ url: `/api/v1/lists/${sampleIdentity.listId}/imports`, headers })
  ).json()
  expect(imports).toMatchObject([
    {
      status: 'completed',
      rows_matched: listed.lists[0].count,
      rows_unmatched: 0,
      rows_duplicate: 1,
      rows_rejected: 1,
    },
  ])
  expect(listed.lists[0].count).toBeGreaterThan(10)
  const files = await uploads.list(0)
  const created = await service.app.inject({
    method: 'POST',
    url: '/api/v1/lists',
    headers,
    payload: {
      project_id: service.ours.projects[0],
      name: 'Mine',
      kind: 'emails',
      items: ['a@mine.example'],
    },
  })
  expect([created.statusCode, created.json().list]).toMatchObject([
    202,
    { id: sampleIdentity.listId, name: 'Mine' },
  ])
  await waitFor('the file to go', async () => (await uploads.list(0)).length === files.length)
  expect((await service.app.inject({ url: '/api/v1/lists', headers })).json()).toEqual(listed)
})
