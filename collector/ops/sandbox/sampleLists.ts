import { randomUUID } from 'node:crypto'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { storeImport } from '../../audiences/lists/imports.ts'
import { createList } from '../../audiences/lists/lists.ts'
import { saveUpload } from '../../audiences/lists/upload/saveUpload.ts'
import type { Uploads } from '../../audiences/lists/upload/uploads.ts'
import type { Postgres } from '../../platform/postgres/pool.ts'
import { inTransaction } from '../../platform/postgres/transaction.ts'
import { sampleProfiles } from './sampleDatabase.ts'

interface SampleList {
  listId: string
  importId?: string
  organizationId: string
  projectId: string
  graph?: Parameters<typeof sampleProfiles>[0]
}

/** Ensures that a sample list exists: customers of the sample shop, one duplicate row and one invalid one. */
export async function ensureSampleLists(
  postgres: Postgres,
  uploads: Uploads,
  {
    listId,
    importId = randomUUID(),
    organizationId,
    projectId,
    graph,
  }: SampleList = sampleIdentity,
): Promise<void> {
  const isThere = (client: Pick<Postgres, 'query'>) =>
    client
      .query('SELECT FROM lists WHERE list_id = $1', [listId])
      .then(({ rowCount }) => rowCount !== 0)
  if (await isThere(postgres)) return
  const hems = sampleProfiles(graph).map((profile) => (JSON.parse(profile) as { hem: string }).hem)
  const lines = ['hem', ...hems, hems[0], 'not a hem'].map((line) => `${line}\n`)
  await inTransaction(postgres, async (client) => {
    // The lock makes concurrent starts wait, and then find the existing rows.
    await client.query('SELECT FROM projects WHERE project_id = $1 FOR UPDATE', [projectId])
    if (await isThere(client as Postgres)) return
    const saved = await saveUpload(uploads, importId, {
      organizationId,
      format: 'csv',
      kind: 'hems',
      column: undefined,
      bytes: bytesOf(lines.join('')),
    })
    await createList(client, { listId, projectId, name: 'Sample customers', kind: 'hems' })
    await storeImport(client, { importId, listId, ...saved })
  })
}

async function* bytesOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}
