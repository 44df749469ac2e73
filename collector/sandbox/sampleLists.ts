import { randomUUID } from 'node:crypto'
import { sampleIdentity } from '../access/sampleView.ts'
import { storeImport } from '../lists/imports.ts'
import { createList } from '../lists/lists.ts'
import { saveUpload } from '../lists/upload/saveUpload.ts'
import type { Uploads } from '../lists/upload/uploads.ts'
import type { Postgres } from '../platform/postgres/pool.ts'
import { inTransaction } from '../platform/postgres/transaction.ts'
import { sampleProfiles } from './sample.ts'

/** The list that test keys see. */
export const sampleListId = '5a3b1e00-0000-4000-8000-0000000000e1'

/** Makes sure that the sample list is there: customers of the sample shop, a row twice and one that is wrong. */
export async function ensureSampleLists(postgres: Postgres, uploads: Uploads): Promise<void> {
  const isThere = (client: Pick<Postgres, 'query'>) =>
    client
      .query('SELECT FROM lists WHERE list_id = $1', [sampleListId])
      .then(({ rowCount }) => rowCount !== 0)
  if (await isThere(postgres)) return
  const hems = sampleProfiles().map((profile) => (JSON.parse(profile) as { hem: string }).hem)
  const lines = ['hem', ...hems, hems[0], 'not a hem'].map((line) => `${line}\n`)
  const importId = randomUUID()
  const saved = await saveUpload(uploads, importId, {
    ...{ format: 'csv', kind: 'hems', column: undefined },
    bytes: bytesOf(lines.join('')),
  })
  await inTransaction(postgres, async (client) => {
    // Of several processes that start at once the others wait, and find it; their files are cleaned up.
    await client.query('SELECT FROM projects WHERE project_id = $1 FOR UPDATE', [sampleIdentity.projectId])
    if (await isThere(client as Postgres)) return
    const { projectId } = sampleIdentity
    await createList(client, { listId: sampleListId, projectId, name: 'Sample customers', kind: 'hems' })
    await storeImport(client, { importId, listId: sampleListId, ...saved })
  })
}

async function* bytesOf(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}
