/** The demo organization's sample visitors: three audiences that the live key pages and downloads, and nothing besides. */
import { parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, readRows } from '../../harness/api.ts'
import { ownDatabases } from '../../harness/databases.ts'
import { type Service, startService, waitFor } from '../../harness/service.ts'

let env: Record<string, string>
let service: Service
beforeAll(async () => {
  env = await ownDatabases()
  service = await startService({ env, hasSample: true })
}, 180_000)
afterAll(() => service?.stop())

const read = async (path: string) => {
  const answer = await ask(service, `/api/v1/audiences${path}`, { 'x-project-id': service.demo.project_id })
  // biome-ignore lint/suspicious/noExplicitAny: answers are read as a client without our types would.
  return (await answer.json()) as any
}
const built = () =>
  waitFor(
    'three audiences',
    async () => {
      const { audiences } = await read('')
      // biome-ignore lint/suspicious/noExplicitAny: as above.
      return audiences.length === 3 && audiences.every(({ status }: any) => status === 'completed')
        ? audiences
        : null
    },
    60_000,
  )

test('three audiences of the demo have records and files for its live key, and the welcome shows one', async () => {
  const audiences = await built()
  for (const { id, count } of audiences) {
    expect(count).toBeGreaterThan(0)
    const { results } = await read(`/${id}/records`)
    expect(results.length).toBe(count)
    expect(results[0]).toMatchObject({ hem: expect.any(String), email: expect.stringContaining('@') })
  }
  const path = service.output().match(/audiences\/([0-9a-f-]{36})\/download\S+format=parquet/)
  expect(path).not.toBeNull()
  const [, id] = path!
  const download = await waitFor(
    'the file',
    async () => {
      const found = await read(`/${id}/download?format=parquet`)
      return found.status === 'ready' ? found : null
    },
    60_000,
  )
  const file = await (await fetch(download.files[0].url)).arrayBuffer()
  expect((await parquetReadObjects({ file })).length).toBe(download.count)
})

test('two goals of the demo are met by some of its visitors', async () => {
  const answer = await ask(service, `/api/v1/analytics/conversions?project_id=${service.demo.project_id}`)
  const { conversions } = (await answer.json()) as { conversions: { name: string; rate: number }[] }
  expect(conversions.map(({ name }) => name)).toEqual(['Order', 'Search'])
  for (const { rate } of conversions) {
    expect(rate).toBeGreaterThan(0)
    expect(rate).toBeLessThan(1)
  }
})

test('what happens in the shop is read without them, and another start adds nothing', async () => {
  expect(await readRows(service, {})).toEqual([])
  const before = await built()
  const { dataDir } = service
  await service.end('SIGTERM')
  service = await startService({ env, dataDir, hasSample: true })
  await waitFor('the welcome', () => service.output().includes('Footfall is up'), 30_000)
  expect(await built()).toEqual(before)
})
