import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FileStore } from '../../../collector/audiences/files/fileStore.ts'
import { openS3Store } from '../../../collector/audiences/files/s3Store.ts'
import { type S3, startS3 } from '../../harness/s3.ts'

const directory = mkdtempSync(join(tmpdir(), 'footfall-test-s3-'))
let server: S3
let store: FileStore
beforeAll(async () => {
  server = await startS3(directory, 'files')
  store = openS3Store({
    endpoint: server.endpoint,
    bucket: 'files',
    region: 'us-east-1',
    accessKeyId: 'S3RVER',
    secretAccessKey: 'S3RVER',
  })
})
afterAll(async () => {
  await server.close()
  rmSync(directory, { recursive: true, force: true })
})

test('a part goes to the store, is fetched without a key by a signed address, and is deleted', async () => {
  const path = join(directory, 'part.tmp')
  const bytes = Buffer.alloc(300_000, 'a row\n')
  writeFileSync(path, bytes)
  await store.save('some-file', 'part-0001.csv', path)
  expect(existsSync(path)).toBe(false)
  const url = await store.urlOf('some-file', 'part-0001.csv', Date.now() + 60_000)
  expect(new URL(url).searchParams.get('X-Amz-Expires')).toMatch(/^(59|60)$/)
  expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(bytes)).toBe(true)
  writeFileSync(path, bytes)
  await store.save('another-file', 'part-0001.csv', path)
  await store.remove('some-file')
  expect((await fetch(url)).status).toBe(404)
  const other = await store.urlOf('another-file', 'part-0001.csv', Date.now() + 60_000)
  expect((await fetch(other)).status).toBe(200)
  await store.remove('some-file')
})
